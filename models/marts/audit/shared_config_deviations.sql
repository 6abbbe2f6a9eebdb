-- Grain: one row per (arm, run_id, config_key), as in config_deviations.
-- The deviations as they may be shared: values are without the names of home directories and without e-mail addresses.
-- Config values are the only texts of a tracker that marts show as logged and that can hold them.
select
    arm,
    run_id,
    config_key,
    {{ replace_all(
        replace_all('value', '(/home|/Users|\\\\Users)[/\\\\][^/\\\\\\s\\x22\\x27]+', '~'),
        '[\\w.+-]+@[\\w-]+([.][\\w-]+)+',
        '(e-mail)'
    ) }} as value,
    recipe_value,
    affects_learning,
    note
from {{ ref('config_deviations') }}

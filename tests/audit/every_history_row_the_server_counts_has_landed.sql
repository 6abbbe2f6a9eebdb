-- Protects: curves from histories that came short over the W&B API.
-- Fails when: fewer rows landed than the server counted before reading, or its last step did not come.
-- Not a check of: a run that went on after it was read, nor of .wandb logs and exports.
{{ config(severity='warn') }}
select
    source,
    row_count,
    history_line_count,
    last_landed_step_idx,
    last_step_idx
from {{ ref('history_completeness') }}
where not is_complete

-- Grain: one row per file of candidates.
select
    source_name,
    run_in_path,
    round_in_path,
    attempt_in_path,
    has_token_arrays
from {{ source('rounds', 'rounds_files') }}

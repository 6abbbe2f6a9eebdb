-- Grain: one row per line of a file of candidates, as it was landed.
select * from {{ source('rounds', 'rounds_candidates') }}

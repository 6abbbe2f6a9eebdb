-- Protects: driver_tokens_at_hour as a cost axis: a cell's later checkpoint cannot have cost less.
-- Fails when: of two checkpoints of one cell the later has fewer tokens, or two of one hour differ.
-- Not a check of: manifests, whose numbers are their publisher's.
with neighbours as (
    select
        model_id,
        hour,
        driver_tokens_at_hour,
        lag(hour) over along_cell as earlier_hour,
        lag(driver_tokens_at_hour) over along_cell as earlier_tokens
    from {{ ref('checkpoints') }}
    where hour is not null and source_kind = 'sweep'
    window along_cell as (partition by cell order by hour, driver_tokens_at_hour)
)

select *
from neighbours
where
    driver_tokens_at_hour < earlier_tokens
    or (hour = earlier_hour and driver_tokens_at_hour is distinct from earlier_tokens)

-- Protects: no fabricated hour: whatever the evidence, an hour is one of its run's, and a sweep's id tells it.
-- Fails when: an hour lies before the run's start or after its end, or a sweep's id or hour_source tells otherwise.
-- Not a check of: runs whose run.json has not landed.
select
    checkpoints.model_id,
    checkpoints.hour,
    checkpoints.hour_source,
    cells.run_hours
from {{ ref('checkpoints') }} as checkpoints
inner join {{ ref('cells') }} as cells on checkpoints.cell = cells.cell
where
    checkpoints.hour < 0
    or checkpoints.hour > cells.run_hours
    or (
        checkpoints.source_kind = 'sweep'
        and (
            (checkpoints.hour is null) is distinct from (checkpoints.hour_source = 'unrecoverable')
            or floor(checkpoints.hour) is distinct from
            try_cast({{ model_id_part('checkpoints.model_id', 3) }} as double)
        )
    )

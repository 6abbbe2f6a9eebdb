-- Grain: one row per hour_source of the published index.
-- How many hours were determined in which way, and how far off the extrapolated ones may be.
with errors as (
    select
        checkpoints.hour_source,
        max(families.cadence_error_hours) as cadence_error_hours
    from {{ ref('checkpoints') }} as checkpoints
    inner join {{ ref('checkpoint_families') }} as families
        on checkpoints.cell = families.cell and checkpoints.family = families.family
    where checkpoints.hour_source = 'extrapolated'
    group by checkpoints.hour_source
),

counted as (
    select
        hour_source,
        count(*) as checkpoint_count
    from {{ ref('manifest_entries') }}
    group by hour_source
),

final as (
    select
        coalesce(counted.hour_source, errors.hour_source) as hour_source,
        coalesce(counted.checkpoint_count, 0) as checkpoint_count,
        errors.cadence_error_hours
    from counted
    full outer join errors on counted.hour_source = errors.hour_source
)

select * from final

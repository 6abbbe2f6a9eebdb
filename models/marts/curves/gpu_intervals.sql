-- Grain: one row per (run_id, gpu_idx, interval_idx).
-- Gathers the samplers' readings in intervals of the arm's clock, which begins with its first sample.
-- Sources that another kind of source of the same run stands for are left out: they hold the same readings again.
with samples as (
    select * from {{ ref('stg_history__gpu_samples') }}
    where {{ finite_or_null('value') }} is not null
),

logs as (select * from {{ ref('logs') }}),

runs as (select * from {{ ref('run_arms') }}),

placed as (
    select
        runs.arm,
        runs.run_id,
        samples.gpu_idx,
        samples.log_id,
        samples.sample_idx,
        samples.quantity,
        samples.value,
        samples.logged_at,
        min(samples.logged_at) over (partition by runs.arm) as arm_started_at
    from samples
    inner join logs on samples.log_id = logs.log_id
    inner join runs on logs.run_id = runs.run_id
    where samples.logged_at is not null and not logs.is_duplicate_source
),

timed as (
    select
        *,
        cast(
            floor({{ hours_between('arm_started_at', 'logged_at') }} * 60 / {{ var('gpu_interval_minutes') }}) as bigint
        ) as interval_idx
    from placed
),

final as (
    select
        arm,
        run_id,
        gpu_idx,
        interval_idx,
        cast(interval_idx * {{ var('gpu_interval_minutes') }} as double) / 60 as started_after_hours,
        count(distinct log_id || ' ' || cast(sample_idx as string)) as sample_count,
        {{ exact_sum("case when quantity = 'gpu' then value end") }}
        / nullif(count(*) filter (where quantity = 'gpu'), 0) / 100 as mean_busy_fraction,
        max(value) filter (where quantity = 'memoryAllocatedBytes') as max_memory_allocated_bytes,
        {{ exact_sum("case when quantity = 'powerWatts' then value end") }}
        / nullif(count(*) filter (where quantity = 'powerWatts'), 0) as mean_power_watts,
        max(value) filter (where quantity = 'temp') as max_temperature_celsius
    from timed
    group by arm, run_id, gpu_idx, interval_idx
)

select * from final

-- Grain: one row per (run_id, window_name).
-- Decides each declared window: arithmetic, 95% Wilson bounds, and a verdict once every expected candidate is there.
with declared as (
    select
        identities.run_id,
        windows.window_name,
        windows.role,
        windows.first_step,
        windows.last_step,
        windows.expected_candidate_count,
        windows.threshold_valid_count,
        windows.registered_at,
        windows.source
    from {{ source('declared', 'decision_windows') }} as windows
    inner join {{ ref('run_identities') }} as identities
        on windows.run_id = identities.reported_run_id
),

seen as (
    -- Interrupted attempts count here: whoever registers after one of them has seen its results.
    select
        run_id,
        step,
        recorded_at,
        cast(null as timestamp) as called_at
    from {{ ref('candidates') }}
    union all
    select
        run_id,
        step,
        cast(null as timestamp),
        called_at
    from {{ ref('teacher_call_rows') }}
),

first_seen as (
    select
        declared.run_id,
        declared.window_name,
        min(seen.recorded_at) as first_candidate_at,
        min(seen.called_at) as first_called_at
    from declared
    left join seen
        on
            declared.run_id = seen.run_id
            and seen.step between declared.first_step and declared.last_step
    group by declared.run_id, declared.window_name
),

counted as (
    select
        declared.run_id,
        declared.window_name,
        declared.expected_candidate_count,
        count(task_rows.task) as task_row_count,
        cast(coalesce(sum(task_rows.candidate_count), 0) as bigint) as candidate_count,
        cast(coalesce(sum(task_rows.valid_count), 0) as bigint) as valid_count,
        cast(coalesce(sum(task_rows.unknown_validity_count), 0) as bigint) as unknown_validity_count
    from declared
    left join {{ ref('task_validity') }} as task_rows
        on
            declared.run_id = task_rows.run_id
            and task_rows.step between declared.first_step and declared.last_step
    group by declared.run_id, declared.window_name, declared.expected_candidate_count
),

measured as (
    select
        *,
        nullif(cast(candidate_count as double), 0) as n,
        valid_count / nullif(cast(candidate_count as double), 0) as p,
        cast({{ var('wilson_z') }} as double) as z,
        candidate_count = expected_candidate_count and unknown_validity_count = 0 as is_complete
    from counted
),

bounded as (
    select
        *,
        (p + z * z / (2 * n)) / (1 + z * z / n) as wilson_center,
        z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n) as wilson_margin
    from measured
),

final as (
    select
        declared.run_id,
        declared.window_name,
        declared.role,
        declared.first_step,
        declared.last_step,
        declared.expected_candidate_count,
        bounded.candidate_count,
        bounded.valid_count,
        bounded.unknown_validity_count,
        bounded.task_row_count,
        bounded.p as valid_fraction,
        bounded.wilson_center - bounded.wilson_margin as valid_fraction_low,
        bounded.wilson_center + bounded.wilson_margin as valid_fraction_high,
        declared.threshold_valid_count,
        declared.registered_at,
        coalesce(first_seen.first_candidate_at, first_seen.first_called_at) as first_candidate_at,
        case
            when first_seen.first_candidate_at is not null then 'candidate'
            when first_seen.first_called_at is not null then 'teacher_call'
        end as first_candidate_at_source,
        declared.registered_at < coalesce(
            first_seen.first_candidate_at, first_seen.first_called_at
        ) as is_preregistered,
        bounded.is_complete,
        case when bounded.is_complete then bounded.valid_count >= declared.threshold_valid_count end as passes,
        declared.source
    from declared
    inner join bounded
        on declared.run_id = bounded.run_id and declared.window_name = bounded.window_name
    inner join first_seen
        on declared.run_id = first_seen.run_id and declared.window_name = first_seen.window_name
)

select * from final

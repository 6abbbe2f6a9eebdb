-- Grain: one row per run_id.
-- Adds up what became of each run's rows; a run without history is a row too.
with run_arms as (select * from {{ ref('run_arms') }}),

run_logs as (
    select
        run_id,
        count(*) as log_count,
        max_by(is_unfinished, log_number) as is_unfinished
    from {{ ref('logs') }}
    where run_id is not null
    group by run_id
),

run_segments as (
    select
        run_id,
        count(*) as segment_count,
        min_by(first_position, segment_number) as first_position,
        max_by(last_position, segment_number) as last_position
    from {{ ref('segments') }}
    group by run_id
),

row_counts as (
    select
        run_id,
        count(*) as row_count,
        count(*) filter (where drop_reason is null) as kept_row_count,
        count(*) filter (where drop_reason = 'duplicate_source') as duplicate_source_row_count,
        count(*) filter (where drop_reason = 'excluded') as excluded_row_count,
        count(*) filter (where drop_reason = 'unpositioned') as unpositioned_row_count,
        count(*) filter (where drop_reason = 'other_lineage') as other_lineage_row_count,
        count(*) filter (where drop_reason = 'rolled_back') as rolled_back_row_count,
        count(*) filter (where drop_reason = 'seam_collapsed') as seam_collapsed_row_count
    from {{ ref('run_rows') }}
    group by run_id
),

final as (
    select
        run_arms.run_id,
        run_arms.arm,
        run_arms.run_name,
        run_arms.project,
        run_arms.state,
        run_arms.started_at,
        run_logs.log_count,
        coalesce(run_segments.segment_count, 0) as segment_count,
        coalesce(row_counts.row_count, 0) as row_count,
        run_segments.first_position,
        run_segments.last_position,
        coalesce(row_counts.kept_row_count, 0) as kept_row_count,
        coalesce(row_counts.duplicate_source_row_count, 0) as duplicate_source_row_count,
        coalesce(row_counts.excluded_row_count, 0) as excluded_row_count,
        coalesce(row_counts.unpositioned_row_count, 0) as unpositioned_row_count,
        coalesce(row_counts.other_lineage_row_count, 0) as other_lineage_row_count,
        coalesce(row_counts.rolled_back_row_count, 0) as rolled_back_row_count,
        coalesce(row_counts.seam_collapsed_row_count, 0) as seam_collapsed_row_count,
        run_logs.is_unfinished,
        arm_keys.position_key,
        rollout_runs.has_tool_parser_mismatch,
        coalesce(identities.is_diagnostic, false) as is_diagnostic
    from run_arms
    inner join run_logs on run_arms.run_id = run_logs.run_id
    left join run_segments on run_arms.run_id = run_segments.run_id
    left join {{ ref('arm_keys') }} as arm_keys on run_arms.arm = arm_keys.arm
    left join row_counts on run_arms.run_id = row_counts.run_id
    left join {{ ref('rollout_runs') }} as rollout_runs on run_arms.run_name = rollout_runs.run_name
    left join {{ ref('run_identities') }} as identities on run_arms.run_id = identities.reported_run_id
)

select * from final

-- Grain: one row per (arm, segment_number): the rollouts of one run.
-- Decides which runs' rollouts continue each other, and from which step on a run's rollouts were discarded.
with recursive

numbered as (
    select
        arm,
        run_name,
        run_id,
        started_at,
        first_step_idx,
        last_step_idx,
        step_count,
        cast(row_number() over (partition by arm order by started_at nulls last, run_name) as bigint) as segment_number
    from {{ ref('rollout_runs') }}
    where not is_excluded
),

parents as (
    select
        child.arm,
        child.segment_number,
        max(earlier.segment_number) as parent_segment_number
    from numbered as child
    inner join numbered as earlier
        on
            child.arm = earlier.arm
            and child.segment_number > earlier.segment_number
            and child.first_step_idx > earlier.first_step_idx
            and earlier.last_step_idx >= child.first_step_idx - {{ var('resume_reach_gaps') }}
    group by child.arm, child.segment_number
),

related as (
    select
        numbered.*,
        parents.parent_segment_number
    from numbered
    left join parents on numbered.arm = parents.arm and numbered.segment_number = parents.segment_number
),

{{ chosen_lineage(
    'step_count', source('declared', 'arms'), 'declared.leaf_run_id in (related.run_id, related.run_name)'
) }},

labelled as (
    select
        related.*,
        lineages.lineage_step_count,
        chosen.segment_number is not null as is_chosen
    from related
    inner join lineages on related.arm = lineages.arm and related.segment_number = lineages.segment_number
    left join chosen on related.arm = chosen.arm and related.segment_number = chosen.segment_number
),

final as (
    select
        *,
        min(case when is_chosen then first_step_idx end) over later as superseded_from_step_idx
    from labelled
    window later as (
        partition by arm order by segment_number rows between 1 following and unbounded following
    )
)

select * from final

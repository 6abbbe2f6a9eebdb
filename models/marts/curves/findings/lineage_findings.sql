-- Grain: one row per (kind, subject).
-- Decides which curves end in another segment, or begin elsewhere, than a person may think.
with segments as (select * from {{ ref('segments') }}),

arms as (select * from {{ ref('arms') }}),

declared as (select * from {{ source('declared', 'arms') }}),

leaves as (
    select
        *,
        row_number() over (
            partition by arm
            order by case when is_chosen then 1 else 0 end asc, lineage_step_count desc, segment_number desc
        ) as preference
    from segments
    where is_main_track and is_leaf
),

-- A run is declared as the end, and its last segment is that
last_segments as (
    select
        arm,
        run_id,
        max(segment_number) as segment_number
    from segments
    where is_main_track
    group by arm, run_id
),

longest as (
    select
        leaves.arm,
        leaves.run_id,
        leaves.lineage_step_count,
        leaves.segment_number = last_segments.segment_number as is_declarable
    from leaves
    inner join last_segments on leaves.arm = last_segments.arm and leaves.run_id = last_segments.run_id
    where leaves.preference = 1 and not leaves.is_chosen
),

chosen_steps as (
    select
        logged_steps.*,
        max(case when logged_steps.drop_reason = 'rolled_back' then logged_steps.position end) over along_arm
            as last_rolled_back_position
    from {{ ref('logged_steps') }} as logged_steps
    where logged_steps.is_main_track and coalesce(logged_steps.drop_reason, 'kept') <> 'other_lineage'
    window along_arm as (partition by logged_steps.arm)
),

reaches as (
    select
        arm,
        max(case when drop_reason is null then position end) as last_position,
        max(last_rolled_back_position) as last_rolled_back_position,
        max_by(
            run_id,
            case when drop_reason = 'rolled_back' and position = last_rolled_back_position then segment_number end
        ) as rolled_back_run_id
    from chosen_steps
    group by arm
),

final as (
    select
        'longer_lineage_not_chosen' as kind,
        longest.arm as subject,
        'warn' as severity,
        'another lineage (ending in run ' || longest.run_id || ') has ' || longest.lineage_step_count
        || ' logged steps, the chosen one (ending in run ' || arms.leaf_run_id || ') '
        || arms.chosen_lineage_step_count as detail,
        case
            when longest.is_declarable
                then {{ arms_line('longest.arm', 'declared', {'leaf_run_id': 'longest.run_id'}) }}
            else {{ findings_page('longer_lineage_not_chosen') }}
        end as remedy
    from longest
    inner join arms on longest.arm = arms.arm
    left join declared on longest.arm = declared.arm
    where longest.lineage_step_count > arms.chosen_lineage_step_count
    union all
    select
        'rolled_back_beyond_end',
        reaches.arm,
        'warn',
        'run ' || reaches.rolled_back_run_id || ' had reached position ' || reaches.last_rolled_back_position
        || ' before it was rolled back, and the curve ends at ' || reaches.last_position
        || ': the resume has not caught up, or it was a relaunch from scratch',
        case
            when reaches.rolled_back_run_id <> arms.leaf_run_id
                then {{ arms_line('reaches.arm', 'declared', {'leaf_run_id': 'reaches.rolled_back_run_id'}) }}
            else {{ findings_page('rolled_back_beyond_end') }}
        end
    from reaches
    inner join arms on reaches.arm = arms.arm
    left join declared on reaches.arm = declared.arm
    where reaches.last_rolled_back_position > reaches.last_position
)

select * from final

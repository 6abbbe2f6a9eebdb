-- Grain: one row per (kind, subject).
-- Decides what of the curves a person should look at.
with arms as (select * from {{ ref('arms') }}),

runs as (select * from {{ ref('runs') }}),

logs as (select * from {{ ref('logs') }}),

segments as (select * from {{ ref('segments') }}),

metrics as (select * from {{ ref('metrics') }}),

trainer_steps as (
    select
        arm,
        metric,
        min(training_step) as first_training_step,
        min_by(value, training_step) as first_value,
        row_number() over (partition by arm order by min(training_step), metric) as preference
    from {{ ref('arm_metrics') }}
    where
        metric in (
            {%- for key in var('trainer_step_keys') %}
            '{{ key }}'{{ ',' if not loop.last }}
            {%- endfor %}
        )
        and value is not null
        and value <> training_step
    group by arm, metric
),

preceded as (
    select
        arm,
        segment_number,
        run_id,
        started_at,
        max(ended_at) over earlier as busy_until
    from segments
    window earlier as (partition by arm order by segment_number rows between unbounded preceding and 1 preceding)
),

chosen_steps as (
    select
        steps.*,
        max(case when steps.drop_reason = 'rolled_back' then steps.position end) over along_arm
            as last_rolled_back_position
    from {{ ref('logged_steps') }} as steps
    inner join segments on steps.arm = segments.arm and steps.segment_number = segments.segment_number
    where segments.is_chosen
    window along_arm as (partition by steps.arm)
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

kind_counts as (
    select
        run_id,
        producer,
        source_kind,
        sum(row_count) as row_count
    from logs
    where run_id is not null
    group by run_id, producer, source_kind
),

collisions as (
    select distinct
        logs.run_id,
        nested_metrics.metric
    from {{ ref('nested_metrics') }} as nested_metrics
    inner join logs on nested_metrics.log_id = logs.log_id
    where nested_metrics.is_ambiguous
),

final as (
    select
        'longer_lineage_not_chosen' as kind,
        arm as subject,
        'warn' as severity,
        'another lineage has ' || longest_other_lineage_step_count || ' logged steps, the chosen one (ending in run '
        || leaf_run_id || ') ' || chosen_lineage_step_count
        || '; if that is the curve, name its last run as leaf_run_id in declared/arms.csv, or build with '
        || '--vars ''lineage_choice: furthest''' as detail
    from arms
    where longest_other_lineage_step_count > chosen_lineage_step_count
    union all
    select
        'rolled_back_beyond_end',
        arm,
        'warn',
        'run ' || rolled_back_run_id || ' had reached position ' || last_rolled_back_position
        || ' before it was rolled back, and the curve ends at ' || last_position
        || ': the resume has not caught up, or it was a relaunch from scratch'
    from reaches
    where last_rolled_back_position > last_position
    union all
    select
        'concurrent_segments',
        arm,
        'warn',
        count(*) || ' segments start before an earlier one ended (first: segment ' || min(segment_number)
        || '), so they are not restarts of each other: give the runs arms of their own in declared/arm_assignments.csv'
    from preceded
    where started_at < busy_until
    group by arm
    union all
    select
        'dead_metric',
        metric,
        'warn',
        'zero in all its ' || value_count || ' values on ' || arm_count || ' arms: never filled, do not plot it'
    from metrics
    where is_dead
    union all
    select
        'text_among_numbers',
        metric,
        'warn',
        text_count || ' values are text where ' || value_count || ' are numbers; they stay in value_text'
    from metrics
    where text_count > 0 and value_count > 0
    union all
    select
        'step_hole',
        arm,
        'warn',
        'a gap is wider than {{ var("step_hole_gaps") }} median gaps: steps are missing, and training_step beyond it '
        || 'can not be trusted to join'
    from arms
    where has_step_hole
    union all
    select
        'arm_running',
        arm,
        'info',
        'declared as still running: ' || step_count || ' steps so far'
    from arms
    where is_running
    union all
    select
        'unexpected_step_count',
        arm,
        'warn',
        step_count || ' steps, but ' || expected_step_count || ' are declared'
    from arms
    where step_count <> expected_step_count and not coalesce(is_running, false)
    union all
    select
        'seam_guard_band',
        logged_steps.arm,
        'warn',
        count(*) || ' neighbours lie between {{ var("seam_guard_low") }} and {{ var("seam_guard_high") }} median gaps: '
        || 'the seam threshold does not tell one step from two here'
    from {{ ref('logged_steps') }} as logged_steps
    where gap_ratio > {{ var('seam_guard_low') }} and gap_ratio < {{ var('seam_guard_high') }}
    group by logged_steps.arm
    union all
    select
        'trainer_step_differs',
        arm,
        'info',
        'training_step ' || first_training_step || ' is ' || metric || ' ' || first_value
    from trainer_steps
    where preference = 1
    union all
    select
        'unpositioned_rows',
        arm,
        'info',
        sum(unpositioned_row_count) || ' rows have no ' || coalesce(max(position_key), 'position')
        || ' and are on no curve'
    from runs
    group by arm
    having sum(unpositioned_row_count) > 0
    union all
    select
        'arm_without_kept_steps',
        arm,
        'warn',
        'none of its ' || logged_row_count || ' rows in ' || run_count || ' runs is kept'
    from arms
    where step_count = 0
    union all
    select
        'sources_disagree',
        run_id,
        'warn',
        'its sources hold different numbers of history rows, from ' || cast(min(row_count) as bigint) || ' to '
        || cast(max(row_count) as bigint)
    from kind_counts
    group by run_id
    having min(row_count) <> max(row_count)
    union all
    select
        'metric_name_collision',
        run_id || ' ' || metric,
        'warn',
        'a nested key and another key have one name; the curve takes the plain one where both were logged'
    from collisions
)

select
    kind,
    subject,
    'curves' as domain,
    severity,
    detail
from final

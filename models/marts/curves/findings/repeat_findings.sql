-- Grain: one row per (kind, subject).
-- Decides which arms hold experiments that may be repeats of each other.
with complete_starts as (select * from {{ ref('complete_starts') }}),

run_config as (
    select
        complete_starts.arm,
        run_config.config_key,
        run_config.value
    from complete_starts
    inner join {{ ref('run_config') }} as run_config on complete_starts.run_id = run_config.run_id
),

start_counts as (
    select
        arm,
        count(distinct root_segment_number) as start_count,
        count(*) as run_count
    from complete_starts
    group by arm
),

differing as (
    select
        run_config.arm,
        run_config.config_key,
        row_number() over (partition by run_config.arm order by run_config.config_key) as ordinal,
        count(*) over (partition by run_config.arm) as key_count
    from run_config
    inner join start_counts on run_config.arm = start_counts.arm
    group by run_config.arm, run_config.config_key
    having count(distinct run_config.value) > 1 or count(*) < max(start_counts.run_count)
),

differences as (
    select
        arm,
        {{ joined_text('config_key', ', ', 'config_key') }}
        || case when max(key_count) > 10 then ' and ' || (max(key_count) - 10) || ' more' else '' end as config_keys
    from differing
    where ordinal <= 10
    group by arm
),

repeats as (
    select
        complete_starts.arm,
        {{ joined_text('complete_starts.run_id', ', ', 'complete_starts.run_id') }} as run_ids,
        {{ joined_text(
            "case when not complete_starts.is_on_curve and complete_starts.root_segment_number "
            ~ "= complete_starts.last_root_segment_number then "
            ~ declared_line('arm_assignments', {
                'run_id': 'complete_starts.run_id',
                'arm': "complete_starts.arm || ' [' || complete_starts.root_run_id || ']'"
            }) ~ " end",
            '\n', 'complete_starts.run_id'
        ) }} as remedy
    from complete_starts
    group by complete_starts.arm
),

final as (
    select
        'several_complete_starts' as kind,
        repeats.arm as subject,
        'warn' as severity,
        start_counts.start_count || ' fresh starts of it were trained to their end (runs ' || repeats.run_ids
        || '): repeats, seeds or relaunches? Their configs differ in ' || coalesce(differences.config_keys, 'nothing')
            as detail,
        coalesce(repeats.remedy, {{ findings_page('several_complete_starts') }}) as remedy
    from repeats
    inner join start_counts on repeats.arm = start_counts.arm
    left join differences on repeats.arm = differences.arm
)

select * from final

-- Grain: one row per (kind, subject).
-- Decides which arms hold segments that ran at once, so that one can't be a restart of the other.
with timed as (
    select
        arm,
        track_number,
        segment_number,
        run_id,
        log_id,
        started_at,
        max(ended_at) over earlier as busy_until
    from {{ ref('segments') }}
    window earlier as (
        partition by arm, track_number
        order by segment_number
        rows between unbounded preceding and 1 preceding
    )
),

concurrent as (
    select
        timed.arm,
        timed.segment_number,
        timed.run_id,
        bool_or(timed.run_id <> earlier.run_id) as is_beside_another_run
    from timed
    inner join {{ ref('segments') }} as earlier
        on
            timed.arm = earlier.arm
            and timed.track_number = earlier.track_number
            and timed.segment_number > earlier.segment_number
            and timed.log_id <> earlier.log_id
            and timed.started_at < earlier.ended_at
    where timed.started_at < timed.busy_until
    group by timed.arm, timed.segment_number, timed.run_id
),

concurrent_arms as (
    select
        arm,
        count(*) as segment_count,
        min(segment_number) as segment_number
    from concurrent
    group by arm
),

-- A run beside itself can't be given another arm
concurrent_lines as (
    select
        arm,
        {{ joined_text(declared_line(
            'arm_assignments', {'run_id': 'run_id', 'arm': "arm || ' [' || run_id || ']'"}
        ), '\n', 'run_id') }} as remedy
    from (
        select distinct
            concurrent.arm,
            concurrent.run_id
        from concurrent
        where concurrent.is_beside_another_run
    ) as runs
    group by arm
),

final as (
    select
        'concurrent_segments' as kind,
        concurrent_arms.arm as subject,
        'warn' as severity,
        concurrent_arms.segment_count || ' segments start before an earlier one of another log ended (first: segment '
        || concurrent_arms.segment_number || '), so they are not restarts of each other' as detail,
        coalesce(concurrent_lines.remedy, {{ findings_page('concurrent_segments') }}) as remedy
    from concurrent_arms
    left join concurrent_lines on concurrent_arms.arm = concurrent_lines.arm
)

select * from final

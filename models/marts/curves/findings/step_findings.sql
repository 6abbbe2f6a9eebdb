-- Grain: one row per (kind, subject).
-- Decides where the steps of a curve are not what they should be.
with arms as (select * from {{ ref('arms') }}),

declared as (select * from {{ source('declared', 'arms') }}),

seams as (
    select
        arm,
        count(*) as seam_count,
        min(gap_ratio) as lowest_gap_ratio
    from {{ ref('logged_steps') }}
    where
        is_main_track
        and is_seam
        and gap_ratio >= {{ var('seam_guard_low') }}
        and gap_ratio <= {{ var('seam_guard_high') }}
    group by arm
),

final as (
    select
        'seam_guard_band' as kind,
        arm as subject,
        'info' as severity,
        seam_count || ' neighbours of two segments lie {{ var("seam_guard_low") }} to {{ var("seam_guard_high") }} '
        || 'median gaps apart (the closest ' || lowest_gap_ratio
        || '): the seam threshold hardly tells one step from two here' as detail,
        {{ findings_page('seam_guard_band') }} as remedy
    from seams
    union all
    select
        'step_hole',
        arm,
        'warn',
        'a gap is wider than {{ var("step_hole_gaps") }} median gaps: steps are missing, and training_step beyond it '
        || 'can not be trusted to join',
        {{ findings_page('step_hole') }}
    from arms
    where has_step_hole
    union all
    select
        'arm_running',
        arms.arm,
        'info',
        'declared as still running: ' || arms.step_count || ' steps so far',
        {{ arms_line('arms.arm', 'declared', {'is_running': 'false'}) }}
    from arms
    inner join declared on arms.arm = declared.arm
    where arms.is_running
    union all
    select
        'unexpected_step_count',
        arm,
        'warn',
        step_count || ' steps, but ' || expected_step_count || ' are declared',
        {{ findings_page('unexpected_step_count') }}
    from arms
    where step_count <> expected_step_count and not coalesce(is_running, false)
    union all
    select
        'arm_without_kept_steps',
        arm,
        'warn',
        'none of its ' || logged_row_count || ' rows in ' || run_count || ' runs is kept',
        {{ findings_page('arm_without_kept_steps') }}
    from arms
    where step_count = 0
)

select * from final

-- Grain: one row per (cell, family).
-- Decides whether a family's own step-to-time line can date its other checkpoints, and how far off it is: each anchor
-- is predicted from the others (residual / (1 - leverage), the closed form of leaving one out).
with anchors as (
    select
        *,
        row_number() over best_first as best_rank
    from {{ ref('checkpoint_hours') }}
    where drop_reason is null and is_exact and step is not null
    window best_first as (partition by checkpoint_key order by evidence_rank)
),

centred as (
    select
        cell,
        family,
        step,
        hour,
        count(*) over whole_family as anchor_count,
        avg(step) over whole_family as mean_step,
        avg(hour) over whole_family as mean_hour
    from anchors
    where best_rank = 1
    window whole_family as (partition by cell, family)
),

slopes as (
    select
        cell,
        family,
        sum((step - mean_step) * (step - mean_step)) as step_spread,
        sum((step - mean_step) * (hour - mean_hour))
        / nullif(sum((step - mean_step) * (step - mean_step)), 0) as hours_per_step
    from centred
    group by cell, family
),

left_out as (
    select
        centred.cell,
        centred.family,
        abs(centred.hour - centred.mean_hour - slopes.hours_per_step * (centred.step - centred.mean_step)) as residual,
        1 - 1.0 / centred.anchor_count
        - (centred.step - centred.mean_step) * (centred.step - centred.mean_step) / nullif(slopes.step_spread, 0)
            as share_of_others
    from centred
    inner join slopes on centred.cell = slopes.cell and centred.family = slopes.family
    where centred.anchor_count > 2
),

errors as (
    select
        cell,
        family,
        max(residual / share_of_others) as cadence_error_hours
    from left_out
    where share_of_others > 1e-9
    group by cell, family
),

lines as (
    select
        cell,
        family,
        max(anchor_count) as anchor_count,
        max(mean_step) as mean_step,
        max(mean_hour) as mean_hour
    from centred
    group by cell, family
),

members as (
    select
        cell,
        family,
        count(*) as checkpoint_count
    from {{ ref('checkpoint_records') }}
    where not is_baseline and cell is not null and family is not null
    group by cell, family
),

final as (
    select
        members.cell,
        members.family,
        cast(members.checkpoint_count as bigint) as checkpoint_count,
        cast(coalesce(lines.anchor_count, 0) as bigint) as anchor_count,
        slopes.hours_per_step,
        lines.mean_hour - slopes.hours_per_step * lines.mean_step as hour_at_step_0,
        errors.cadence_error_hours,
        coalesce(slopes.hours_per_step > 0, false) as has_cadence
    from members
    left join lines on members.cell = lines.cell and members.family = lines.family
    left join slopes on members.cell = slopes.cell and members.family = slopes.family
    left join errors on members.cell = errors.cell and members.family = errors.family
)

select * from final

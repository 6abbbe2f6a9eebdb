-- Grain: one row per (arm, segment_number).
-- Decides which lineage is the arm's curve.
with recursive

related as (select * from {{ ref('segment_parents') }}),

declared_leaves as (
    select
        arm,
        leaf_run_id
    from {{ source('declared', 'arms') }}
    where leaf_run_id is not null
),

lineages as (
    select
        arm,
        segment_number,
        logged_step_count as lineage_step_count
    from related
    where parent_segment_number is null
    union all
    select
        related.arm,
        related.segment_number,
        lineages.lineage_step_count + related.logged_step_count
    from related
    inner join lineages on related.arm = lineages.arm and related.parent_segment_number = lineages.segment_number
),

children as (
    select distinct
        arm,
        parent_segment_number
    from related
),

measured as (
    select
        related.*,
        lineages.lineage_step_count,
        children.parent_segment_number is null as is_leaf
    from related
    inner join lineages on related.arm = lineages.arm and related.segment_number = lineages.segment_number
    left join children
        on related.arm = children.arm and related.segment_number = children.parent_segment_number
),

ends as (
    select
        measured.arm,
        measured.segment_number,
        row_number() over (
            partition by measured.arm
            order by
                case when measured.run_id = declared_leaves.leaf_run_id then 0 else 1 end asc,
                {%- if var('lineage_choice') == 'furthest' %}
                case
                    when measured.run_id is distinct from declared_leaves.leaf_run_id then measured.lineage_step_count
                    else 0
                end desc,
                {%- endif %}
                measured.segment_number desc
        ) as preference
    from measured
    left join declared_leaves on measured.arm = declared_leaves.arm
),

chosen as (
    select
        arm,
        segment_number
    from ends
    where preference = 1
    union all
    select
        related.arm,
        related.parent_segment_number
    from related
    inner join chosen on related.arm = chosen.arm and related.segment_number = chosen.segment_number
    where related.parent_segment_number is not null
),

final as (
    select
        measured.arm,
        measured.segment_number,
        measured.run_id,
        measured.log_id,
        measured.segment_idx,
        measured.started_at,
        measured.ended_at,
        measured.first_position,
        measured.last_position,
        measured.row_count,
        measured.logged_step_count,
        measured.parent_segment_number,
        measured.lineage_step_count,
        measured.is_leaf,
        chosen.segment_number is not null as is_chosen
    from measured
    left join chosen on measured.arm = chosen.arm and measured.segment_number = chosen.segment_number
)

select * from final

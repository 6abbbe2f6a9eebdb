-- Grain: one row per (arm, segment_number).
-- Decides which lineage is the arm's curve.
with recursive

related as (select * from {{ ref('segment_parents') }}),

{{ chosen_lineage('logged_step_count', source('declared', 'arms'), 'related.run_id = declared.leaf_run_id') }},

children as (
    select distinct
        arm,
        parent_segment_number
    from related
),

final as (
    select
        related.arm,
        related.segment_number,
        related.run_id,
        related.log_id,
        related.segment_idx,
        related.started_at,
        related.ended_at,
        related.first_position,
        related.last_position,
        related.row_count,
        related.logged_step_count,
        related.parent_segment_number,
        lineages.lineage_step_count,
        children.parent_segment_number is null as is_leaf,
        chosen.segment_number is not null as is_chosen
    from related
    inner join lineages on related.arm = lineages.arm and related.segment_number = lineages.segment_number
    left join children
        on related.arm = children.arm and related.segment_number = children.parent_segment_number
    left join chosen on related.arm = chosen.arm and related.segment_number = chosen.segment_number
)

select * from final

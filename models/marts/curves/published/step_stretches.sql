-- Grain: one row per (arm, segment_number, first_position): neighbouring logged steps of a segment with one label.
-- What a restart cost, in as few rows as it can be drawn with.
with labelled as (
    select
        *,
        row_number() over along_segment - row_number() over along_label as stretch
    from {{ ref('logged_steps') }}
    window
        along_segment as (partition by arm, segment_number order by position),
        along_label as (partition by arm, segment_number, drop_reason order by position)
),

arms as (select * from {{ ref('arms') }}),

final as (
    select
        labelled.arm,
        labelled.segment_number,
        min(labelled.position) as first_position,
        max(labelled.position) as last_position,
        arms.position_key,
        max(labelled.run_id) as run_id,
        labelled.drop_reason,
        count(*) as logged_step_count,
        cast(sum(labelled.row_count) as bigint) as row_count
    from labelled
    inner join arms on labelled.arm = arms.arm
    group by labelled.arm, labelled.segment_number, arms.position_key, labelled.drop_reason, labelled.stretch
)

select * from final

-- Grain: one row per (log_id, row_idx).
-- Decides each arm's position key and each row's position, and cuts every log into segments.
with usable_rows as (select * from {{ ref('usable_rows') }}),

history as (select * from {{ ref('stg_history__values') }}),

declared_keys as (
    select
        arm,
        position_key
    from {{ source('declared', 'arms') }}
    where position_key is not null
),

key_ranks as (
    select *
    from (
        values
        {%- for key in var('position_keys') %}
        ('{{ key }}', {{ loop.index }}){{ ',' if not loop.last }}
        {%- endfor %}
    ) as ranks (metric, key_rank)
),

numbers as (
    select
        log_id,
        row_idx,
        metric,
        max(value) as value
    from history
    where
        (
            metric in (select key_ranks.metric from key_ranks)
            or metric in (select declared_keys.position_key from declared_keys)
        )
        and not isnan(value)
        and abs(value) < cast('Infinity' as double)
    group by log_id, row_idx, metric
),

default_keys as (
    select
        usable_rows.arm,
        min_by(numbers.metric, key_ranks.key_rank) as position_key
    from usable_rows
    inner join numbers on usable_rows.log_id = numbers.log_id and usable_rows.row_idx = numbers.row_idx
    inner join key_ranks on numbers.metric = key_ranks.metric
    where usable_rows.drop_reason is null
    group by usable_rows.arm
),

keyed as (
    select
        usable_rows.*,
        coalesce(declared_keys.position_key, default_keys.position_key) as position_key
    from usable_rows
    left join default_keys on usable_rows.arm = default_keys.arm
    left join declared_keys on usable_rows.arm = declared_keys.arm
),

positioned as (
    select
        keyed.*,
        numbers.value as position,
        coalesce(keyed.drop_reason, case when numbers.value is null then 'unpositioned' end) as label
    from keyed
    left join numbers
        on
            keyed.log_id = numbers.log_id
            and keyed.row_idx = numbers.row_idx
            and keyed.position_key = numbers.metric
),

compared as (
    select
        log_id,
        row_idx,
        position,
        lag(position) over along_log as previous_position
    from positioned
    where label is null
    window along_log as (partition by log_id order by row_idx)
),

cut as (
    select
        log_id,
        row_idx,
        sum(case when position < previous_position then 1 else 0 end) over up_to_row as segment_idx
    from compared
    window up_to_row as (partition by log_id order by row_idx rows between unbounded preceding and current row)
),

final as (
    select
        positioned.run_id,
        positioned.log_id,
        positioned.row_idx,
        positioned.arm,
        positioned.record_number,
        positioned.step_idx,
        positioned.logged_at,
        positioned.happened_at,
        positioned.position_key,
        positioned.position,
        positioned.label as drop_reason,
        cast(cut.segment_idx as bigint) as segment_idx
    from positioned
    left join cut on positioned.log_id = cut.log_id and positioned.row_idx = cut.row_idx
)

select * from final

-- Grain: one row per (cell, architecture).
-- Counts what a server of a cell's checkpoints must know: which lack a file, which are no whole model.
with checkpoints as (select * from {{ ref('checkpoints') }}),

final as (
    select
        cell,
        architecture,
        cast(count(*) as bigint) as checkpoint_count,
        cast(sum(case when lacks_preprocessor then 1 else 0 end) as bigint) as lacking_preprocessor_count,
        cast(sum(case when has_vision_tower then 1 else 0 end) as bigint) as vision_tower_count,
        cast(sum(case when chat_template_source = 'none' then 1 else 0 end) as bigint) as lacking_chat_template_count,
        cast(sum(case when is_adapter then 1 else 0 end) as bigint) as adapter_count
    from checkpoints
    where cell is not null
    group by cell, architecture
)

select * from final

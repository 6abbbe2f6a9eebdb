-- Grain: one row per run_name that has records.
-- Decides which declared tokenizer a run's model has, and whether its tokens were looked for when the shards were read.
with files as (
    select * from {{ ref('stg_rollouts__files') }}
    where record_count > 0
),

models as (
    select
        run_name,
        model_name
    from (
        select
            *,
            row_number() over (
                partition by run_name
                order by case when model_name is null then 1 else 0 end, line_number, source_name
            ) as preference
        from {{ ref('stg_rollouts__runs') }}
    ) as ranked
    where preference = 1
),

tokenizers as (select * from {{ source('declared', 'tokenizers') }}),

matched as (
    select
        models.run_name,
        tokenizers.model_pattern,
        tokenizers.tool_call_open_id,
        tokenizers.tool_call_close_id,
        row_number() over (
            partition by models.run_name order by length(tokenizers.model_pattern) desc, tokenizers.model_pattern
        ) as preference
    from models
    inner join tokenizers on {{ matches_glob('models.model_name', 'tokenizers.model_pattern') }}
),

looked_for as (
    select
        files.run_name,
        models.model_name,
        matched.model_pattern,
        matched.tool_call_open_id,
        matched.tool_call_close_id,
        coalesce(
            array_contains(files.special_token_ids, matched.tool_call_open_id)
            and array_contains(files.special_token_ids, matched.tool_call_close_id),
            false
        ) as is_scanned
    from files
    left join models on files.run_name = models.run_name
    left join matched on files.run_name = matched.run_name and matched.preference = 1
),

final as (
    select
        run_name,
        model_name,
        model_pattern,
        tool_call_open_id,
        tool_call_close_id,
        bool_and(is_scanned) as is_scanned
    from looked_for
    group by run_name, model_name, model_pattern, tool_call_open_id, tool_call_close_id
)

select * from final

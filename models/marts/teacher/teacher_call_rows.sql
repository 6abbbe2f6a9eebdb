-- Grain: one row per call that a line holds (source_name, line_number, judge_idx).
-- Decides which row stands where one call was tried again: the last that has usage.
with calls as (
    select
        calls.*,
        identities.run_id,
        identities.is_diagnostic,
        calls.input_tokens is not null or calls.output_tokens is not null as has_usage
    from {{ ref('stg_teacher__calls') }} as calls
    inner join {{ ref('run_identities') }} as identities
        on calls.reported_run_id = identities.reported_run_id
),

ordered as (
    select
        *,
        row_number() over (
            partition by call_id
            order by
                case when has_usage then 1 else 0 end desc,
                called_at desc nulls last,
                source desc,
                line_number desc,
                judge_idx desc
        ) as recency
    from calls
),

final as (
    select
        call_id,
        run_id,
        step,
        group_id,
        role,
        model,
        called_at,
        has_usage,
        input_tokens,
        cached_input_tokens,
        output_tokens,
        reasoning_tokens,
        stated_cost_usd,
        reported_cost_usd,
        case when recency > 1 then 'retried' end as drop_reason,
        is_diagnostic,
        source,
        source_name,
        line_number,
        judge_idx
    from ordered
)

select * from final

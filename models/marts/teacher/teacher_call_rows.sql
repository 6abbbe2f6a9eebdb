-- Grain: one row per call that a line holds (source_name, line_number, judge_idx).
-- Decides which row stands where one call was streamed, written twice or tried again: the last that has usage.
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
            partition by is_policy_response, call_id
            order by
                case when has_usage then 1 else 0 end desc,
                called_at desc nulls last,
                source desc,
                line_number desc,
                judge_idx desc
        ) as recency
    from calls
),

standing as (
    select
        call_id,
        response_id,
        input_tokens,
        output_tokens
    from ordered
    where recency = 1 and not is_policy_response
),

labelled as (
    select
        ordered.*,
        case
            when ordered.is_policy_response then 'policy_response'
            when ordered.recency = 1 then null
            when ordered.is_part_of_stream then 'streamed'
            when
                ordered.response_id = standing.response_id
                and ordered.input_tokens = standing.input_tokens
                and ordered.output_tokens = standing.output_tokens
                then 'repeated'
            else 'retried'
        end as drop_reason
    from ordered
    left join standing on ordered.call_id = standing.call_id
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
        cache_write_tokens,
        cache_write_1h_tokens,
        output_tokens,
        reasoning_tokens,
        stated_total_tokens,
        usage_form,
        has_token_conflict,
        search_count,
        service_tier,
        stated_cost_usd,
        reported_cost_usd,
        fee_usd,
        drop_reason,
        is_diagnostic,
        source,
        source_name,
        line_number,
        judge_idx
    from labelled
)

select * from final

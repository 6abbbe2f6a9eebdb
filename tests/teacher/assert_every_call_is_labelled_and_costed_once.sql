-- Protects: label, never drop. Every landed call is in `teacher_call_rows` once, every id in `teacher_calls` once, and
-- the costs by step and role count each call of a formal run once, by one source of its cost.
-- Fails when: a join loses or repeats calls, or a cost is known without a source or has one while unknown.
-- Not a check of: whether a price is right.
with counts as (
    select
        (select count(*) from {{ source('teacher', 'teacher_call_records') }}) as landed_count,
        (select count(*) from {{ ref('teacher_call_rows') }}) as labelled_count,
        (
            select count(distinct call_id) from {{ ref('teacher_call_rows') }}
            where drop_reason is distinct from 'policy_response'
        ) as id_count,
        (select count(*) from {{ ref('teacher_calls') }}) as call_count,
        (
            select count(*) from {{ ref('teacher_calls') }}
            where not is_diagnostic
        ) as formal_count,
        (select coalesce(sum(call_count), 0) from {{ ref('teacher_costs') }}) as costed_count,
        (
            select coalesce(sum(unknown_cost_call_count + reported_cost_call_count + priced_cost_call_count), 0)
            from {{ ref('teacher_costs') }}
        ) as sourced_count,
        (
            select count(*) from {{ ref('teacher_calls') }}
            where
                (cost_source = 'unknown') <> (cost_usd is null)
                or (cost_source = 'unknown') <> (unknown_cost_reason is not null)
                or cost_usd < 0
        ) as contradictory_count
)

select *
from counts
where
    landed_count <> labelled_count
    or id_count <> call_count
    or formal_count <> costed_count
    or costed_count <> sourced_count
    or contradictory_count > 0

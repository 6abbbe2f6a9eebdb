-- Protects: label, never drop. Every landed candidate is in `candidates` once; the kept ones of formal runs are one a
-- sibling, and task, outcome and reward counts each sum to them.
-- Fails when: a join loses or repeats lines, two kept lines are one sibling, or a count misses some.
-- Not a check of: whether a label is right.
with counts as (
    select
        (select count(*) from {{ source('rounds', 'rounds_candidates') }}) as landed_count,
        (select count(*) from {{ ref('candidates') }}) as labelled_count,
        (
            select count(*) from {{ ref('candidates') }}
            where drop_reason is null and not is_diagnostic
        ) as kept_count,
        (
            select count(*)
            from (
                select distinct
                    run_id,
                    step,
                    group_id,
                    sibling_index
                from {{ ref('candidates') }}
                where drop_reason is null and not is_diagnostic
            ) as siblings
        ) as sibling_count,
        (select coalesce(sum(candidate_count), 0) from {{ ref('task_validity') }}) as task_count,
        (select coalesce(sum(candidate_count), 0) from {{ ref('reward_branches') }}) as branch_count,
        (select coalesce(sum(candidate_count), 0) from {{ ref('round_outcomes') }}) as outcome_count
)

select *
from counts
where
    landed_count <> labelled_count
    or kept_count <> sibling_count
    or kept_count <> task_count
    or kept_count <> branch_count
    or kept_count <> outcome_count

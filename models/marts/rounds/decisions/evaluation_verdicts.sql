-- Grain: one row per (plan_name, run_id).
-- Decides a declared evaluation by its rule, once every planned attempt is there.
with summaries as (select * from {{ ref('evaluation_summary') }}),

counted as (
    select
        plan_name,
        run_id,
        min(rule) as rule,
        cast(sum(expected_attempt_count) as bigint) as expected_attempt_count,
        cast(sum(attempt_count) as bigint) as attempt_count,
        cast(sum(case when role = 'baseline' then valid_count else 0 end) as bigint) as baseline_valid_count,
        cast(sum(case when role = 'candidate' then valid_count else 0 end) as bigint) as candidate_valid_count,
        count(case when role = 'baseline' then 1 end) as baseline_row_count,
        count(case when role = 'candidate' then 1 end) as candidate_row_count,
        count(case when not is_complete then 1 end) = 0 as is_complete,
        count(distinct rule) = 1 and count(rule) = count(*) as has_one_rule
    from summaries
    group by plan_name, run_id
)

select
    plan_name,
    run_id,
    rule,
    expected_attempt_count,
    attempt_count,
    baseline_valid_count,
    candidate_valid_count,
    candidate_valid_count - baseline_valid_count as valid_count_difference,
    is_complete,
    case
        when
            is_complete and has_one_rule and rule = 'more_valid_attempts'
            and baseline_row_count > 0 and candidate_row_count > 0
            then candidate_valid_count > baseline_valid_count
    end as passes
from counted

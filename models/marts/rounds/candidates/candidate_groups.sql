-- Grain: one row per (run_id, step, group_id).
-- Sums up each group of siblings: how many there are, which was selected, whether the advantages hold.
select
    run_id,
    step,
    group_id,
    min(task) as task,
    min(chain) as chain,
    count(*) as sibling_count,
    min(sibling_index) as first_sibling_index,
    max(sibling_index) as last_sibling_index,
    count(case when is_behavior then 1 end) as behavior_count,
    max(abs(advantage_error)) as widest_advantage_error,
    max(abs(cost_usd - cost_by_role_usd)) as widest_cost_error_usd,
    min(parent_outcome) as parent_outcome,
    min(parent_score) as parent_score,
    coalesce(min(parent_outcome) = max(parent_outcome), true)
    and coalesce(min(parent_score) = max(parent_score), true) as has_one_parent,
    max(case when is_behavior then sibling_index end) as behavior_sibling_index,
    max(case when is_behavior then outcome end) as behavior_outcome,
    max(case when is_behavior then score end) as behavior_score,
    coalesce(
        max(
            case
                when
                    is_behavior and behavior_action in (
                        {%- for action in var('advancing_actions') %}
                        '{{ action }}'{{ ',' if not loop.last }}
                        {%- endfor %}
                    )
                    then 1
            end
        ) = 1,
        false
    ) as is_advance
from {{ ref('candidates') }}
where drop_reason is null and not is_diagnostic
group by run_id, step, group_id

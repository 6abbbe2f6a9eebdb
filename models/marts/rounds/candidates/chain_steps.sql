-- Grain: one row per (run_id, task, chain, step).
-- Decides whether a state follows from the one before: the selected candidate's result where it advanced the state,
-- else the parent carried forward.
with groups as (
    select * from {{ ref('candidate_groups') }}
    where chain is not null
),

preceded as (
    select
        *,
        row_number() over (partition by run_id, task, chain, step order by group_id) as group_number,
        lag(step) over along_chain as previous_step,
        lag(case when is_advance then behavior_outcome else parent_outcome end) over along_chain as expected_outcome,
        lag(case when is_advance then behavior_score else parent_score end) over along_chain as expected_score
    from groups
    window along_chain as (partition by run_id, task, chain order by step, group_id)
),

final as (
    select
        run_id,
        task,
        chain,
        step,
        group_id,
        parent_outcome,
        parent_score,
        behavior_sibling_index,
        behavior_outcome,
        behavior_score,
        is_advance,
        previous_step,
        expected_outcome as expected_parent_outcome,
        expected_score as expected_parent_score,
        case
            when previous_step is not null
                then
                    coalesce(parent_outcome = expected_outcome, parent_outcome is null and expected_outcome is null)
                    and coalesce(parent_score = expected_score, parent_score is null and expected_score is null)
        end as is_continued
    from preceded
    where group_number = 1
)

select * from final

-- Grain: one row per (kind, subject).
-- Decides what of the candidates a person should look at.
with groups as (
    select
        *,
        run_id || ' step ' || step || ' group ' || group_id as subject
    from {{ ref('candidate_groups') }}
),

candidates as (
    select
        *,
        run_id || ' step ' || step as subject
    from {{ ref('candidates') }}
    where not is_diagnostic
),

final as (
    select
        'wrong_sibling_count' as kind,
        subject,
        'warn' as severity,
        sibling_count || ' siblings (indices ' || first_sibling_index || ' to ' || last_sibling_index
        || '), not {{ var("siblings_per_group") }}' as detail
    from groups
    where sibling_count <> {{ var('siblings_per_group') }}
    union all
    select
        'wrong_group_count',
        run_id || ' step ' || step,
        'warn',
        count(*) || ' groups, not {{ var("groups_per_round") }}'
    from groups
    group by run_id, step
    having count(*) <> {{ var('groups_per_round') }}
    union all
    select
        'wrong_behavior_count',
        subject,
        'warn',
        behavior_count || ' siblings are marked as the selected one, not 1'
    from groups
    where behavior_count <> 1
    union all
    select
        'advantage_differs',
        subject,
        'warn',
        'advantage is not reward minus the mean of the group: off by up to ' || widest_advantage_error
    from groups
    where widest_advantage_error > {{ var('advantage_tolerance') }}
    union all
    select
        'cost_by_role_differs',
        subject,
        'warn',
        'costs by role do not sum to cost_usd: off by up to ' || widest_cost_error_usd
    from groups
    where widest_cost_error_usd > {{ var('ledger_tolerance_usd') }}
    union all
    select
        'parents_differ',
        subject,
        'warn',
        'its siblings started from different states'
    from groups
    where not has_one_parent
    union all
    select
        'chain_broken',
        run_id || ' task ' || task || ' chain ' || chain || ' step ' || step,
        'warn',
        'parent_result is not the one that step ' || previous_step || ' left'
    from {{ ref('chain_steps') }}
    where not is_continued
    union all
    select
        'duplicate_candidates',
        subject,
        'warn',
        count(*) || ' lines repeat a sibling; the later file stands'
    from candidates
    where drop_reason = 'duplicate'
    group by subject
    union all
    select
        'interrupted_attempt',
        subject || ' attempt ' || attempt,
        'info',
        count(*) || ' candidates of an interrupted attempt are kept out of every figure'
    from candidates
    where drop_reason = 'interrupted_attempt'
    group by subject, attempt
    union all
    select
        'unknown_validity',
        subject,
        'warn',
        count(*) || ' candidates do not say whether they are valid'
    from candidates
    where drop_reason is null and is_valid is null
    group by subject
    union all
    select
        'step_differs',
        subject,
        'warn',
        count(*) || ' candidates state another global_step than step; the windows go by step'
    from candidates
    where drop_reason is null and global_step <> step
    group by subject
)

select
    *,
    'rounds' as domain,
    {{ findings_page() }} as remedy
from final

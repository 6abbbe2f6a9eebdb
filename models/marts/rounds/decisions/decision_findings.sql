-- Grain: one row per (kind, subject).
-- Decides what of the declared windows and plans a person should look at.
with windows as (
    select
        *,
        run_id || ' window ' || window_name as subject
    from {{ ref('validity_windows') }}
),

known_runs as (select distinct run_id from {{ ref('candidates') }}),

final as (
    select
        'window_of_unknown_run' as kind,
        windows.subject,
        'warn' as severity,
        'no candidates of this run have landed; check run_id in declared/decision_windows.csv' as detail,
        {{ findings_page('window_of_unknown_run') }} as remedy
    from windows
    left join known_runs on windows.run_id = known_runs.run_id
    where known_runs.run_id is null
    union all
    select
        'window_incomplete',
        subject,
        'warn',
        candidate_count || ' of ' || expected_candidate_count || ' candidates are there: no verdict yet',
        {{ findings_page('window_incomplete') }}
    from windows
    where candidate_count < expected_candidate_count
    union all
    select
        'window_overfull',
        subject,
        'warn',
        candidate_count || ' candidates, more than the ' || expected_candidate_count || ' expected: no verdict',
        {{ findings_page('window_overfull') }}
    from windows
    where candidate_count > expected_candidate_count
    union all
    select
        'windows_overlap',
        earlier.subject || ' and ' || later.window_name,
        'warn',
        'steps ' || later.first_step || ' to '
        || case when earlier.last_step < later.last_step then earlier.last_step else later.last_step end
        || ' are in both',
        {{ findings_page('windows_overlap') }}
    from windows as earlier
    inner join windows as later
        on
            earlier.run_id = later.run_id
            and (
                earlier.first_step < later.first_step
                or (earlier.first_step = later.first_step and earlier.window_name < later.window_name)
            )
            and earlier.last_step >= later.first_step
    union all
    select
        'window_not_preregistered',
        subject,
        'warn',
        'registered ' || cast(registered_at as string) || ', after its first candidate '
        || cast(first_candidate_at as string),
        {{ findings_page('window_not_preregistered') }}
    from windows
    where not is_preregistered
    union all
    select
        'window_impossible',
        subject,
        'warn',
        'it ends before it begins, expects no candidates, or asks for more valid ones than it expects',
        {{ findings_page('window_impossible') }}
    from windows
    where
        last_step < first_step
        or expected_candidate_count <= 0
        or threshold_valid_count > expected_candidate_count
    union all
    select
        'evaluation_incomplete',
        plan_name || ' ' || run_id,
        'info',
        attempt_count || ' of ' || expected_attempt_count || ' planned attempts are there: no verdict yet',
        {{ findings_page('evaluation_incomplete') }}
    from {{ ref('evaluation_verdicts') }}
    where not is_complete
    union all
    select
        'evaluation_rule_unknown',
        plan_name || ' ' || run_id,
        'warn',
        'no verdict: the rule ' || coalesce(rule, '(none)') || ' is not one that is computed, or the plan has several',
        {{ findings_page('evaluation_rule_unknown') }}
    from {{ ref('evaluation_verdicts') }}
    where is_complete and passes is null
    union all
    select
        'unplanned_attempts',
        run_id || ' ' || policy || ' ' || task,
        'warn',
        count(*) || ' held-out attempts are in no declared plan',
        {{ findings_page('unplanned_attempts') }}
    from {{ ref('evaluation_attempts') }}
    where label = 'unplanned' and not is_diagnostic
    group by run_id, policy, task
)

select
    kind,
    subject,
    'rounds' as domain,
    severity,
    detail,
    remedy
from final

-- Grain: one row per (kind, subject).
-- Decides what of the runs, their metrics and saved steps a person should look at.
with aliases as (select * from {{ source('declared', 'run_aliases') }}),

nested_aliases as (
    select
        aliases.run_id,
        max(case when further.run_id is null then {{ declared_line('run_aliases', {
            'run_id': 'aliases.run_id', 'alias_of': 'onward.alias_of', 'source': 'aliases.source'
        }) }} end) as remedy
    from aliases
    inner join aliases as onward on aliases.alias_of = onward.run_id
    left join aliases as further on onward.alias_of = further.run_id
    group by aliases.run_id
),

superseded as (
    select
        native_rows.run_id,
        native_rows.step,
        native_values.metric,
        native_values.value,
        native_values.value_text
    from {{ ref('native_rows') }} as native_rows
    inner join {{ ref('stg_history__values') }} as native_values
        on
            native_rows.source_name = native_values.log_id
            and native_rows.row_idx = native_values.row_idx
    where
        native_rows.drop_reason = 'superseded'
        and not native_rows.is_diagnostic
        and substr(native_values.metric, 1, 1) <> '_'
),

final as (
    select
        'native_figure_differs' as kind,
        run_id || ' step ' || step || ' ' || metric as subject,
        'warn' as severity,
        'the trainer logged ' || coalesce(cast(native_value as string), 'nothing') || ', the candidates give '
        || coalesce(cast(candidate_value as string), 'nothing') as detail,
        {{ findings_page('native_figure_differs') }} as remedy
    from {{ ref('native_checks') }}
    where not agrees
    union all
    select
        'step_in_two_launches',
        superseded.run_id || ' step ' || superseded.step,
        'warn',
        count(*) || ' metrics have another value in an earlier launch; the later one stands',
        {{ findings_page('step_in_two_launches') }}
    from superseded
    inner join {{ ref('training_metrics') }} as standing
        on
            superseded.run_id = standing.run_id
            and superseded.step = standing.step
            and superseded.metric = standing.metric
    where
        superseded.value is distinct from standing.native_value
        or superseded.value_text is distinct from standing.native_value_text
    group by superseded.run_id, superseded.step
    union all
    select
        'wandb_differs',
        run_id,
        'warn',
        disagreement_count || ' of ' || shared_value_count || ' values differ between native metrics and W&B',
        {{ findings_page('wandb_differs') }}
    from {{ ref('metric_reconciliation_summary') }}
    where disagreement_count > 0
    union all
    select
        'system_counts_differ',
        run_id,
        'info',
        'system records: ' || coalesce(cast(exported_row_count as string), '?') || ' exported, '
        || coalesce(cast(logged_row_count as string), '?') || ' in the logs, '
        || coalesce(cast(server_event_count as string), '?') || ' by the server''s counter; none is the true number',
        {{ findings_page('system_counts_differ') }}
    from {{ ref('system_metric_counts') }}
    where
        exported_row_count <> server_event_count
        or exported_row_count <> logged_row_count
        or logged_row_count <> server_event_count
    union all
    select
        'saved_step_incomplete',
        run_id || ' step ' || step,
        'info',
        'lacks ' || missing_parts,
        {{ findings_page('saved_step_incomplete') }}
    from {{ ref('saved_steps') }}
    where missing_parts is not null
    union all
    select
        'alias_of_alias',
        run_id,
        'warn',
        'declared/run_aliases.csv: it is an alias of an alias; name the run itself',
        coalesce(remedy, {{ findings_page('alias_of_alias') }})
    from nested_aliases
    union all
    select
        'diagnostic_run',
        run_id,
        'info',
        'declared as diagnostic: queryable, out of every figure',
        {{ findings_page('diagnostic_run') }}
    from {{ ref('run_identities') }}
    where is_diagnostic
    group by run_id
)

select
    *,
    'rounds' as domain
from final

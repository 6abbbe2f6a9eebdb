{#- What follows is asked of the arms, and before there are arms of the families of runs that share a name. -#}

{#- The CTEs up to `position_keys` (scope, position_key, evidence): the metric that is the x-axis of a scope. The rows before it:
    `scoped_rows` (scope, log_id, row_idx, step_idx), `scoped_metrics` (scope, log_id, metric, last_name,
    is_connecting_name, value_count) and `declared_keys` (scope, position_key). Of use later: `step_metrics` (scope,
    log_id, metric), the axes that the runs declared, and `number_ranges` (scope, metric, lowest, highest).

    The first known of: what is declared; the step metric that at least half of all values were declared for; the first
    of the var position_keys that rises, or else that was logged at all; the tracker's own step. -#}
{% macro position_keys() -%}
axes as (select * from {{ ref('stg_history__axes') }}),

step_metrics as (
    select distinct
        scoped_logs.scope,
        axes.log_id,
        axes.step_metric as metric
    from axes
    inner join (select distinct scoped_rows.scope, scoped_rows.log_id from scoped_rows) as scoped_logs
        on axes.log_id = scoped_logs.log_id
),

number_ranges as (
    select
        scoped_rows.scope,
        axis_values.metric,
        min(axis_values.value) as lowest,
        max(axis_values.value) as highest
    from {{ ref('axis_values') }} as axis_values
    inner join scoped_rows on axis_values.log_id = scoped_rows.log_id and axis_values.row_idx = scoped_rows.row_idx
    where axis_values.metric <> '_step'
    group by scoped_rows.scope, axis_values.metric
    union all
    select
        scope,
        '_step',
        cast(min(step_idx) as double),
        cast(max(step_idx) as double)
    from scoped_rows
    where step_idx is not null
    group by scope
),

voters as (
    select scoped_metrics.*
    from scoped_metrics
    left join (select distinct step_metrics.scope, step_metrics.metric from step_metrics) as declared_axes
        on scoped_metrics.scope = declared_axes.scope and scoped_metrics.metric = declared_axes.metric
    where
        scoped_metrics.is_connecting_name
        and declared_axes.metric is null
        and scoped_metrics.scope in (select step_metrics.scope from step_metrics)
),

votes as (
    select
        voters.scope,
        voters.value_count,
        axes.step_metric,
        row_number() over (
            partition by voters.log_id, voters.metric
            order by
                case when axes.metric_pattern = voters.metric then 0 else 1 end asc,
                length(axes.metric_pattern) desc,
                axes.step_metric asc
        ) as preference
    from voters
    left join axes
        on
            voters.log_id = axes.log_id
            and (
                voters.metric = axes.metric_pattern
                or (
                    axes.metric_pattern like '%*'
                    and substr(voters.metric, 1, length(axes.metric_pattern) - 1)
                    = substr(axes.metric_pattern, 1, length(axes.metric_pattern) - 1)
                )
            )
),

totals as (
    select
        scope,
        sum(value_count) as value_count
    from voters
    group by scope
),

elected as (
    select
        votes.scope,
        votes.step_metric,
        sum(votes.value_count) as vote_count,
        row_number() over (
            partition by votes.scope order by sum(votes.value_count) desc, votes.step_metric asc
        ) as preference
    from votes
    inner join number_ranges on votes.scope = number_ranges.scope and votes.step_metric = number_ranges.metric
    where votes.preference = 1 and (votes.step_metric = '_step' or substr(votes.step_metric, 1, 1) <> '_')
    group by votes.scope, votes.step_metric
),

{{ named_keys('usual', 'number_ranges', var('position_keys') | reject('equalto', '_step') | list) }},

position_keys as (
    select
        scopes.scope,
        coalesce(
            declared_keys.position_key,
            case when 2 * elected.vote_count >= totals.value_count then elected.step_metric end,
            usual_keys.metric,
            tracker_steps.metric
        ) as position_key,
        case
            when declared_keys.position_key is not null then 'declared'
            when 2 * elected.vote_count >= totals.value_count then 'step_metric'
            when usual_keys.metric is not null then 'name'
            when tracker_steps.metric is not null then 'tracker'
        end as evidence
    from (select distinct scoped_rows.scope from scoped_rows) as scopes
    left join declared_keys on scopes.scope = declared_keys.scope
    left join elected on scopes.scope = elected.scope and elected.preference = 1
    left join totals on scopes.scope = totals.scope
    left join usual_keys on scopes.scope = usual_keys.scope and usual_keys.preference = 1
    left join number_ranges as tracker_steps on scopes.scope = tracker_steps.scope and tracker_steps.metric = '_step'
)
{%- endmacro %}

{#- The CTE `<name>_keys` (scope, metric, preference) of ranges as `number_ranges`: of some keys the first that takes two
    numbers in a scope is 1, else the first that takes one. -#}
{% macro named_keys(name, ranges, keys) -%}
{{ name }}_keys as (
    select
        ranges.scope,
        ranges.metric,
        row_number() over (
            partition by ranges.scope
            order by case when ranges.lowest < ranges.highest then 0 else 1 end asc, key_names.number asc
        ) as preference
    from {{ ranges }} as ranges
    inner join (values {{ numbered_texts(keys) }}) as key_names (metric, number) on ranges.metric = key_names.metric
)
{%- endmacro %}

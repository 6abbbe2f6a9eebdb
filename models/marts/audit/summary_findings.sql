-- Grain: one row per (kind, subject).
-- Decides where a finished run's summary holds what its history does not. W&B keeps the summary apart from the rows, so
-- it is ahead of them where rows were lost; but a script may also set it, and no log tells: information, no warning.
with differing as (
    select
        source,
        metric,
        summary_json,
        row_number() over (partition by source order by metric) as metric_number,
        count(*) over (partition by source) as metric_count
    from {{ ref('summary_values') }}
    where summary_row_idx is null and not is_mean
)

select
    'summary_differs' as kind,
    source as subject,
    'curves' as domain,
    'info' as severity,
    'its summary holds values of ' || metric_count || ' metrics that no row of the log has (first: ' || metric || ', '
    || summary_json || '): either rows at its end are lost, or the run set its summary itself; the mart summary_values '
    || 'has what was logged last' as detail,
    {{ findings_page('summary_differs') }} as remedy
from differing
where metric_number = 1

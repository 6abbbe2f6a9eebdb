-- Grain: one row per (kind, subject).
-- Decides where a finished run's summary does not fit its history. W&B keeps the summary apart from the rows, so it is
-- ahead of them where the last rows were lost; but a script may also set it, and no log tells: information, no warning.
with differing as (
    select
        source,
        metric,
        summary_json,
        last_row_idx,
        row_number() over (partition by source order by metric) as metric_number,
        count(*) over (partition by source) as metric_count
    from {{ ref('summary_values') }}
    where not is_last_value and not is_aggregate
)

select
    'summary_differs' as kind,
    source as subject,
    'curves' as domain,
    'info' as severity,
    'the summary of ' || metric_count || ' metrics is not what was logged last (first: ' || metric || ', '
    || summary_json || ' in the summary, another value in row ' || last_row_idx || '): either the log lacks its last '
    || 'rows, or the run set its summary itself; the mart summary_values has both numbers' as detail,
    {{ findings_page('summary_differs') }} as remedy
from differing
where metric_number = 1

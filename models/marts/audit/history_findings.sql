-- Grain: one row per (kind, subject).
-- Decides what of the histories read over the API a person should look at.
with histories as (select * from {{ ref('history_completeness') }}),

final as (
    select
        'history_incomplete' as kind,
        source as subject,
        'warn' as severity,
        'the server counts ' || history_line_count || ' history rows up to step '
        || coalesce(cast(last_step_idx as string), 'none') || ', but ' || row_count || ' landed, up to step '
        || coalesce(cast(last_landed_step_idx as string), 'none') || '; the next ingest reads it again' as detail,
        'seamline ingest wandb ' || source as remedy
    from histories
    where not is_complete
    union all
    select
        'history_longer_than_counted',
        source,
        'info',
        row_count || ' history rows landed, but the server counts ' || history_line_count,
        {{ findings_page('history_longer_than_counted') }}
    from histories
    where surplus_row_count > 0
    union all
    select
        'duplicate_api_rows',
        source,
        'info',
        duplicate_row_count || ' history rows came twice over the API, the same in every value; they landed once',
        {{ findings_page('duplicate_api_rows') }}
    from histories
    where duplicate_row_count > 0
    union all
    select
        'repeated_api_steps',
        source,
        'warn',
        repeated_step_row_count || ' history rows came with a _step that had come before with other values',
        {{ findings_page('repeated_api_steps') }}
    from histories
    where repeated_step_row_count > 0
    union all
    select
        'run_deleted_upstream',
        source,
        'warn',
        'gone from W&B; its ' || row_count || ' landed rows stay, and nothing can bring them again',
        {{ findings_page('run_deleted_upstream') }}
    from histories
    where is_deleted
)

select
    kind,
    subject,
    'curves' as domain,
    severity,
    detail,
    remedy
from final

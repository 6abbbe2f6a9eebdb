-- Grain: one row per run_id.
-- Three counts of W&B system records, side by side; none of them is the number of physical measurements.
-- Formal runs only.
with exports as (
    select
        identities.run_id,
        max(exported.system_row_count) as exported_row_count
    from {{ ref('stg_rounds__tracker_exports') }} as exported
    inner join {{ ref('run_identities') }} as identities
        on exported.reported_run_id = identities.reported_run_id
    group by identities.run_id
),

counters as (
    select
        identities.run_id,
        max(try_cast(fields.value as bigint)) as server_event_count
    from {{ ref('stg_rounds__tracker_fields') }} as fields
    inner join {{ ref('stg_rounds__tracker_exports') }} as exported
        on fields.source_name = exported.source_name
    inner join {{ ref('run_identities') }} as identities
        on exported.reported_run_id = identities.reported_run_id
    where
        lower(replace(regexp_replace(fields.field, '^.*[.]', ''), '_', '')) in (
            {%- for counter in var('server_event_counters') %}
            '{{ counter }}'{{ ',' if not loop.last }}
            {%- endfor %}
        )
    group by identities.run_id
),

samples as (
    select distinct
        log_id,
        sample_idx
    from {{ ref('stg_history__system_values') }}
),

logged as (
    select
        identities.run_id,
        count(*) as logged_row_count
    from samples
    inner join {{ ref('stg_history__logs') }} as logs on samples.log_id = logs.log_id
    inner join {{ ref('run_identities') }} as identities on logs.run_id = identities.reported_run_id
    where logs.source_kind = 'log'
    group by identities.run_id
),

diagnostics as (
    select distinct run_id from {{ ref('run_identities') }}
    where is_diagnostic
),

final as (
    select
        coalesce(exports.run_id, logged.run_id) as run_id,
        exports.exported_row_count,
        logged.logged_row_count,
        counters.server_event_count
    from exports
    full join logged on exports.run_id = logged.run_id
    left join counters on exports.run_id = counters.run_id
    left join diagnostics on coalesce(exports.run_id, logged.run_id) = diagnostics.run_id
    where diagnostics.run_id is null
)

select * from final

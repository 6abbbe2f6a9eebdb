-- Grain: one row per reported_run_id.
-- Decides which run an id means (declared/run_aliases.csv) and whether it is a diagnostic (declared/run_roles.csv).
-- A W&B run is here where other evidence speaks of the same run, or its role is declared.
with evidence as (
    select reported_run_id from {{ ref('stg_rounds__candidates') }}
    union
    select run_id from {{ ref('stg_history__logs') }}
    where producer = 'verl'
    union
    select reported_run_id from {{ ref('stg_rounds__evaluation_attempts') }}
    union
    select reported_run_id from {{ ref('stg_rounds__scheduler_events') }}
    union
    select reported_run_id from {{ ref('stg_rounds__saved_step_files') }}
    union
    select reported_run_id from {{ ref('stg_rounds__tracker_exports') }}
    union
    select reported_run_id from {{ ref('stg_teacher__calls') }}
    union
    select reported_run_id from {{ ref('stg_teacher__spend') }}
    union
    select run_id from {{ source('declared', 'decision_windows') }}
    union
    select run_id from {{ source('declared', 'evaluation_plans') }}
),

reported as (
    select
        reported_run_id,
        true as is_evidence
    from evidence
    union all
    select distinct
        logs.run_id as reported_run_id,
        false as is_evidence
    from {{ ref('stg_history__logs') }} as logs
    left join evidence on logs.run_id = evidence.reported_run_id
    where evidence.reported_run_id is null
),

roles as (select * from {{ source('declared', 'run_roles') }}),

named as (
    select
        reported.reported_run_id,
        reported.is_evidence,
        coalesce(aliases.alias_of, reported.reported_run_id) as run_id
    from reported
    left join {{ source('declared', 'run_aliases') }} as aliases
        on reported.reported_run_id = aliases.run_id
    where reported.reported_run_id is not null
),

known as (
    select distinct run_id from named
    where is_evidence
),

matched as (
    select
        named.reported_run_id,
        named.run_id,
        roles.role,
        roles.note,
        row_number() over (
            partition by named.reported_run_id
            order by length(roles.run_id) desc, roles.run_id asc
        ) as preference
    from named
    left join known on named.run_id = known.run_id
    left join roles
        on
            {{ matches_glob('named.run_id', 'roles.run_id') }}
            or {{ matches_glob('named.reported_run_id', 'roles.run_id') }}
    where known.run_id is not null or roles.run_id is not null
),

final as (
    select
        reported_run_id,
        run_id,
        coalesce(role, 'formal') as role,
        note as role_note,
        coalesce(role = 'diagnostic', false) as is_diagnostic
    from matched
    where preference = 1
)

select * from final

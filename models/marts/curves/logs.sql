-- Grain: one row per log_id.
-- Decides which of a run's sources stands: of one producer the kind with the most history rows (ties: logs, the API,
-- exports), of several producers the one whose standing kind has the most (ties: verl's own file last, then by name).
-- A source that does not stand is given the run that does: declared/run_aliases.csv says which ids are one run.
-- Orders the logs of a run: by start, then (verl's files tell none) the file of the last launch last, by first step.
with first_steps as (
    select
        log_id,
        min(step_idx) as first_step
    from {{ ref('stg_history__rows') }}
    group by log_id
),

logs as (
    select
        logs.*,
        first_steps.first_step,
        coalesce(aliases.alias_of, logs.run_id) as identity
    from {{ ref('stg_history__logs') }} as logs
    left join {{ source('declared', 'run_aliases') }} as aliases on logs.run_id = aliases.run_id
    left join first_steps on logs.log_id = first_steps.log_id
),

kinds as (
    select
        run_id,
        producer,
        source_kind,
        row_number() over (
            partition by run_id, producer
            order by sum(row_count) desc, case when source_kind = 'log' then '' else source_kind end asc
        ) as preference
    from logs
    where run_id is not null
    group by run_id, producer, source_kind
),

ranked as (
    select
        logs.*,
        coalesce(kinds.preference > 1, false) as is_duplicate_kind
    from logs
    left join kinds
        on
            logs.run_id = kinds.run_id
            and logs.producer = kinds.producer
            and logs.source_kind = kinds.source_kind
),

producers as (
    select
        identity,
        producer,
        row_number() over (
            partition by identity
            order by sum(row_count) desc, case producer when 'verl' then 1 else 0 end asc, producer asc
        ) as preference
    from ranked
    where run_id is not null and not is_duplicate_kind
    group by identity, producer
),

standing as (
    select
        ranked.identity,
        ranked.producer,
        ranked.run_id,
        row_number() over (
            partition by ranked.identity
            order by ranked.started_at desc nulls last, ranked.run_id desc, ranked.log_id desc
        ) as recency
    from ranked
    inner join producers on ranked.identity = producers.identity and ranked.producer = producers.producer
    where producers.preference = 1
),

placed as (
    select
        ranked.*,
        coalesce(standing.producer <> ranked.producer, false) as is_duplicate_producer,
        case when standing.producer <> ranked.producer then standing.run_id else ranked.run_id end as own_run_id
    from ranked
    left join standing on ranked.identity = standing.identity and standing.recency = 1
),

final as (
    select
        log_id,
        own_run_id as run_id,
        producer,
        source,
        source_kind,
        launch_name,
        cast(
            row_number() over (
                partition by coalesce(own_run_id, log_id)
                order by
                    started_at asc nulls first,
                    case when launch_name is null then 1 else 0 end asc,
                    first_step asc nulls first,
                    log_id asc
            ) as bigint
        ) as log_number,
        started_at,
        row_count,
        case
            when has_exit_record is not null then not has_exit_record
            when state in ('finished', 'failed', 'killed') then false
            when state is not null then true
        end as is_unfinished,
        exit_code,
        lost_tail_bytes,
        is_duplicate_kind,
        is_duplicate_producer,
        is_duplicate_kind or is_duplicate_producer as is_duplicate_source
    from placed
)

select * from final

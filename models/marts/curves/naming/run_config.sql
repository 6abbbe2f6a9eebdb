-- Grain: one row per (run_id, config_key).
-- Decides what a run's config says of a key: what its latest log that states it says; and whether that states anything.
with logs as (
    select * from {{ ref('logs') }}
    where run_id is not null and not is_duplicate_producer
),

config as (
    select * from {{ ref('stg_history__config') }}
    where trim(value_text) <> ''
),

stated as (
    select
        logs.run_id,
        config.config_key,
        max_by(config.value_text, logs.log_number) as value
    from config
    inner join logs on config.log_id = logs.log_id
    group by logs.run_id, config.config_key
),

unquoted as (
    select
        *,
        case
            when length(trim(value)) > 1 and trim(value) like '"%"' then substr(trim(value), 2, length(trim(value)) - 2)
            else trim(value)
        end as unquoted_value
    from stated
),

names as (
    select
        config_key,
        {{ last_config_name('config_key') }} as last_name
    from (select distinct stated.config_key from stated) as config_keys
),

final as (
    select
        unquoted.run_id,
        unquoted.config_key,
        names.last_name,
        unquoted.value,
        case
            when unquoted.unquoted_value not in ('', 'null', 'None', '[]', '{}') then unquoted.unquoted_value
        end as stated_value
    from unquoted
    inner join names on unquoted.config_key = names.config_key
)

select * from final

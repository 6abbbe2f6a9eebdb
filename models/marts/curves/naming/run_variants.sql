-- Grain: one row per run_id of a family: runs of one name that differ in an identity key.
-- Decides the name of each run's variant, made of the values in which the family's runs differ.
{%- set plain = "'^[A-Za-z0-9_.:/+@ -]{1,40}$'" %}
with families as (
    select * from {{ ref('run_names') }}
    where evidence not in ('declared', 'path')
),

identity_values as (select * from {{ ref('identity_values') }}),

short_keys as (
    select distinct
        base,
        config_key,
        coalesce(nullif(regexp_extract(config_key, '[^.]+$', 0), ''), config_key) as short_key
    from identity_values
),

shown_keys as (
    select
        base,
        config_key,
        case when count(*) over (partition by base, short_key) > 1 then config_key else short_key end as shown_key
    from short_keys
),

brackets as (
    select
        identity_values.run_id,
        {{ joined_text(
            "shown_keys.shown_key || '=' || case when regexp_replace(identity_values.value, " ~ plain ~ ", '') = '' "
            ~ "then identity_values.value else "
            ~ replace_all("substr(identity_values.value, 1, 24)", "[^A-Za-z0-9_.:/+@ -]", "_")
            ~ " || '~' || substr(md5(identity_values.value), 1, 8) end",
            ', ', 'identity_values.config_key'
        ) }} as bracket
    from identity_values
    inner join shown_keys
        on identity_values.base = shown_keys.base and identity_values.config_key = shown_keys.config_key
    group by identity_values.run_id
),

final as (
    select
        families.run_id,
        families.name as base,
        case
            when length(brackets.bracket) > 100
                then
                    families.name || ' [' || substr(brackets.bracket, 1, 60) || '~'
                    || substr(md5(brackets.bracket), 1, 8) || ']'
            when brackets.bracket is not null then families.name || ' [' || brackets.bracket || ']'
            else families.name
        end as variant
    from families
    left join brackets on families.run_id = brackets.run_id
    where families.name in (select identity_values.base from identity_values)
)

select * from final

-- Grain: one row per (run_id, config_key) of a family's identity keys, where the run states it.
-- Decides what tells experiments of one name apart: keys of the config that say what a run is and in which runs differ.
with families as (
    select * from {{ ref('run_names') }}
    where evidence not in ('declared', 'path')
),

stated as (
    select
        run_id,
        config_key,
        last_name,
        stated_value as value
    from {{ ref('run_config') }}
    where stated_value is not null
),

identity_names as (
    select identity_keys.pattern
    from (values {{ numbered_texts(var('identity_keys')) }}) as identity_keys (pattern, number)
),

recipe as (
    select * from {{ source('declared', 'frozen_recipe') }}
    where not affects_learning
),

with_seeds as (
    select
        run_id,
        config_key,
        last_name,
        value
    from stated
    union all
    select
        families.run_id,
        'seed',
        'seed',
        families.seed_in_name
    from families
    left join stated on families.run_id = stated.run_id and stated.last_name = 'seed'
    where stated.run_id is null and families.seed_in_name is not null
),

identity_keys as (
    select distinct names.last_name
    from (select distinct with_seeds.last_name from with_seeds) as names
    inner join identity_names
        on {{ matches_glob("replace(names.last_name, '-', '_')", 'lower(identity_names.pattern)') }}
),

family_values as (
    select
        families.name as base,
        families.run_id,
        with_seeds.config_key,
        with_seeds.last_name,
        with_seeds.value,
        case
            when
                regexp_replace(with_seeds.value, '^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$', '') = ''
                then coalesce(cast(try_cast(with_seeds.value as double) + 0.0 as string), with_seeds.value)
            else '"' || with_seeds.value
        end as equal_value
    from families
    inner join with_seeds on families.run_id = with_seeds.run_id
    where with_seeds.last_name in (select identity_keys.last_name from identity_keys)
),

differing as (
    select
        family_values.base,
        family_values.config_key
    from family_values
    left join recipe
        on
            family_values.config_key = recipe.config_key
            and {{ matches_glob('family_values.base', 'recipe.arm_pattern') }}
    where recipe.config_key is null
    group by family_values.base, family_values.config_key
    having min(family_values.equal_value) <> max(family_values.equal_value)
),

final as (
    select
        family_values.base,
        family_values.run_id,
        family_values.config_key,
        min(family_values.value) over (
            partition by family_values.base, family_values.config_key, family_values.equal_value
        ) as value
    from family_values
    inner join differing
        on family_values.base = differing.base and family_values.config_key = differing.config_key
)

select * from final

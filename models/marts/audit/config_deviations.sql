-- Grain: one row per (arm, run_id, config_key) whose value is not the frozen recipe's.
-- Decides which recipe row speaks for a run (the longest matching pattern); an absent key is unknown, not a deviation.
with runs as (select * from {{ ref('run_arms') }}),

logs as (
    select * from {{ ref('logs') }}
    where run_id is not null
),

config as (select * from {{ ref('stg_history__config') }}),

recipe as (select * from {{ source('declared', 'frozen_recipe') }}),

run_config as (
    select
        logs.run_id,
        config.config_key,
        max_by(config.value_text, logs.log_number) as value
    from config
    inner join logs on config.log_id = logs.log_id
    where config.config_key in (select recipe.config_key from recipe)
    group by logs.run_id, config.config_key
),

ruled as (
    select
        runs.arm,
        runs.run_id,
        recipe.config_key,
        recipe.value as recipe_value,
        recipe.affects_learning,
        recipe.note,
        row_number() over (
            partition by runs.run_id, recipe.config_key
            order by length(recipe.arm_pattern) desc, recipe.arm_pattern asc, recipe.value asc
        ) as preference
    from runs
    inner join recipe on {{ matches_glob('runs.arm', 'recipe.arm_pattern') }}
),

final as (
    select
        ruled.arm,
        ruled.run_id,
        ruled.config_key,
        run_config.value,
        ruled.recipe_value,
        ruled.affects_learning,
        ruled.note
    from ruled
    inner join run_config on ruled.run_id = run_config.run_id and ruled.config_key = run_config.config_key
    where
        ruled.preference = 1
        and run_config.value is distinct from ruled.recipe_value
        and coalesce(try_cast(run_config.value as double) <> try_cast(ruled.recipe_value as double), true)
)

select * from final

-- Grain: one row per arm that has usable rows.
-- Decides the x-axis that an arm's restarts continue, and in which key its trainer counts its own steps.
with run_arms as (select * from {{ ref('run_arms') }}),

declared as (
    select * from {{ source('declared', 'arms') }}
    where position_key is not null
),

scoped_rows as (
    select
        arm as scope,
        log_id,
        row_idx,
        step_idx
    from {{ ref('usable_rows') }}
    where drop_reason is null
),

scoped_metrics as (
    select
        *,
        arm as scope
    from {{ ref('usable_metrics') }}
),

families as (
    select
        arm,
        min(variant_of) as variant_of
    from run_arms
    group by arm
),

declared_keys as (
    select
        families.arm as scope,
        coalesce(own.position_key, of_family.position_key) as position_key
    from families
    left join declared as own on families.arm = own.arm
    left join declared as of_family on families.variant_of = of_family.arm
    where own.arm is not null or of_family.arm is not null
),

{{ position_keys() }},

other_ranges as (
    select number_ranges.*
    from number_ranges
    inner join position_keys on number_ranges.scope = position_keys.scope
    where number_ranges.metric is distinct from position_keys.position_key
),

{{ named_keys('trainer', 'other_ranges', var('trainer_step_keys')) }},

final as (
    select
        position_keys.scope as arm,
        position_keys.position_key,
        position_keys.evidence,
        trainer_keys.metric as trainer_step_key
    from position_keys
    left join trainer_keys on position_keys.scope = trainer_keys.scope and trainer_keys.preference = 1
)

select * from final

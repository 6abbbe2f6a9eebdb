-- Grain: one row per (kind, subject).
-- Decides which names hold several arms that their configs alone tell apart.
with families as (
    select
        variant_of as base,
        count(*) as run_count,
        count(distinct arm) as arm_count,
        {{ joined_text(declared_line('arm_assignments', {'run_id': 'run_id', 'arm': 'variant_of'}), '\n', 'run_id') }}
            as run_lines
    from {{ ref('run_arms') }}
    where variant_of is not null
    group by variant_of
    having count(distinct arm) > 1
),

family_keys as (
    select
        base,
        {{ joined_text('config_key', ', ', 'config_key') }} as config_keys
    from
        (select distinct
            identity_values.base,
            identity_values.config_key
        from {{ ref('identity_values') }} as identity_values) as config_keys
    group by base
),

family_arms as (
    select
        variant_of as base,
        {{ joined_text('arm', ', ', 'arm') }} as arms
    from (select distinct
        run_arms.variant_of,
        run_arms.arm
    from {{ ref('run_arms') }} as run_arms) as variants
    group by variant_of
),

-- One line does for all where the family's names begin with its name and no other run's do
namesakes as (
    select
        families.base,
        count(*) = max(families.run_count) and bool_and(run_arms.variant_of is not distinct from families.base)
            as is_one_pattern
    from families
    inner join {{ ref('run_arms') }} as run_arms on {{ matches_glob('run_arms.run_name', "families.base || '*'") }}
    group by families.base
),

final as (
    select
        'arms_differ_in_config_alone' as kind,
        families.base as subject,
        'info' as severity,
        families.run_count || ' runs of this name are ' || families.arm_count || ' arms, which differ in '
        || family_keys.config_keys || ': ' || family_arms.arms as detail,
        case
            when namesakes.is_one_pattern
                then
                    {{ declared_line('arm_assignments', {
                        'name_pattern': "families.base || '*'", 'arm': 'families.base'
                    }) }}
            else families.run_lines
        end as remedy
    from families
    inner join family_keys on families.base = family_keys.base
    inner join family_arms on families.base = family_arms.base
    left join namesakes on families.base = namesakes.base
)

select * from final

-- Grain: one row per run_id.
-- Decides which arm a run belongs to: its name, the variant of it that its config states, or the arm of the run that it
-- resumes, whatever its config says.
with recursive

run_names as (select * from {{ ref('run_names') }}),

run_reaches as (select * from {{ ref('run_reaches') }}),

resumable as (
    select
        later.base,
        later.run_number,
        max(earlier.run_number) as earlier_run_number,
        bool_or(earlier.variant = later.variant) as resumes_its_equal
    from run_reaches as later
    inner join run_reaches as earlier
        on
            later.base = earlier.base
            and later.run_number > earlier.run_number
            and later.first_position > earlier.first_position
            + {{ var('resume_reach_gaps') }} * later.family_median_gap
            and earlier.last_position >= later.first_position
            - {{ var('resume_reach_gaps') }} * later.family_median_gap
    where later.first_position > later.median_gap
    group by later.base, later.run_number
),

resumed as (
    select
        base,
        run_number,
        earlier_run_number
    from resumable
    where not resumes_its_equal
),

traced as (
    select
        run_reaches.base,
        run_reaches.run_number,
        run_reaches.run_id,
        run_reaches.variant as arm,
        'identity' as evidence
    from run_reaches
    left join resumed on run_reaches.base = resumed.base and run_reaches.run_number = resumed.run_number
    where resumed.run_number is null
    union all
    select
        resumed.base,
        resumed.run_number,
        run_reaches.run_id,
        traced.arm,
        'resumed'
    from resumed
    inner join traced on resumed.base = traced.base and resumed.earlier_run_number = traced.run_number
    inner join run_reaches on resumed.base = run_reaches.base and resumed.run_number = run_reaches.run_number
),

seeds as (
    select
        run_id,
        min_by(stated_value, config_key) as seed
    from {{ ref('run_config') }}
    where last_name = 'seed' and stated_value is not null
    group by run_id
),

final as (
    select
        run_names.run_id,
        coalesce(traced.arm, run_names.name) as arm,
        coalesce(traced.evidence, run_names.evidence) as evidence,
        coalesce(seeds.seed, run_names.seed_in_name) as seed,
        traced.base as variant_of,
        run_names.run_name,
        run_names.run_group,
        run_names.project,
        run_names.state,
        run_names.started_at
    from run_names
    left join traced on run_names.run_id = traced.run_id
    left join seeds on run_names.run_id = seeds.run_id
)

select * from final

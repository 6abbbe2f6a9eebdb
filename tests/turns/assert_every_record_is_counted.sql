-- Protects: counts. No record gets lost between the shards, the rollouts and the steps.
-- Fails when: records differ from rollouts plus repeated ones, or kept rollouts from those that arm_turns adds up.
-- Not a check of: records that could not be read; those are in quarantined_records.
with records as (
    select count(*) as record_count from {{ ref('stg_rollouts__records') }}
),

repeated as (
    select count(drop_reason) as repeated_count from {{ ref('rollout_records') }}
),

rollouts as (
    select
        count(*) as rollout_count,
        count(*) - count(drop_reason) as kept_count
    from {{ ref('rollouts') }}
),

turns as (
    select coalesce(sum(n_rollouts), 0) as added_up_count from {{ ref('arm_turns') }}
),

counts as (
    select
        records.record_count,
        repeated.repeated_count,
        rollouts.rollout_count,
        rollouts.kept_count,
        turns.added_up_count
    from records
    cross join repeated
    cross join rollouts
    cross join turns
)

select * from counts
where record_count <> rollout_count + repeated_count or kept_count <> added_up_count

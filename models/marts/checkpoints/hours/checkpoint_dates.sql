-- Grain: one row per checkpoint (checkpoint_key).
-- Decides each checkpoint's hour by the best evidence, and what its driver had spent by then.
with records as (
    select * from {{ ref('checkpoint_records') }}
    where not is_baseline
),

families as (select * from {{ ref('checkpoint_families') }}),

runs as (
    select * from {{ ref('stg_checkpoints__cells') }}
    where is_standing
),

extrapolated as (
    select
        records.checkpoint_key,
        -- A line is no more exact than that; the last digits of its sums vary from run to run.
        round(families.hour_at_step_0 + families.hours_per_step * records.step, 6) as hour,
        {{ hours_between('runs.started_at', 'runs.ended_at') }} as run_hours
    from records
    inner join families on records.cell = families.cell and records.family = families.family
    left join runs on records.cell = runs.cell
    where records.step is not null and families.has_cadence
),

usable as (
    select
        checkpoint_key,
        hour,
        hour_source,
        evidence_rank
    from {{ ref('checkpoint_hours') }}
    where drop_reason is null
    union all
    -- Behind exact evidence and what the publisher states, before the floor of an hour in an id.
    select
        checkpoint_key,
        hour,
        'extrapolated' as hour_source,
        3.5 as evidence_rank
    from extrapolated
    where hour >= 0 and hour <= coalesce(run_hours, hour)
),

dated as (
    select
        checkpoint_key,
        min_by(hour, evidence_rank) as hour,
        min_by(hour_source, evidence_rank) as hour_source
    from usable
    group by checkpoint_key
),

timeline as (
    select
        records.cell,
        records.checkpoint_key,
        dated.hour,
        1 as is_checkpoint,
        cast(0 as bigint) as spent_tokens
    from records
    inner join dated on records.checkpoint_key = dated.checkpoint_key
    union all
    select
        spending.cell,
        null as checkpoint_key,
        {{ hours_between('runs.started_at', 'spending.spent_at') }} as hour,
        0 as is_checkpoint,
        spending.spent_tokens
    from {{ ref('driver_spending') }} as spending
    inner join runs on spending.cell = runs.cell
    where runs.started_at is not null and spending.spent_at is not null
),

-- What was spent at no known time, or by an unknown amount, may lie before any checkpoint.
unplaced as (
    select distinct cell
    from {{ ref('driver_spending') }}
    where spent_tokens is null or (spent_tokens > 0 and spent_at is null)
),

counted as (
    select
        checkpoint_key,
        sum(spent_tokens) over until_then as tokens,
        min(is_checkpoint) over whole_cell = 0 as has_usage
    from timeline
    window
        until_then as (
            partition by cell order by hour, is_checkpoint rows between unbounded preceding and current row
        ),
        whole_cell as (partition by cell)
),

final as (
    select
        records.checkpoint_key,
        dated.hour,
        coalesce(dated.hour_source, 'unrecoverable') as hour_source,
        extrapolated.hour as hour_on_family_line,
        case
            when dated.hour is null then null
            when counted.has_usage and unplaced.cell is not null then null
            when counted.has_usage then cast(counted.tokens as bigint)
            else cast(records.published_tokens as bigint)
        end as driver_tokens_at_hour
    from records
    left join dated on records.checkpoint_key = dated.checkpoint_key
    left join extrapolated on records.checkpoint_key = extrapolated.checkpoint_key
    left join counted on records.checkpoint_key = counted.checkpoint_key
    left join unplaced on records.cell = unplaced.cell
)

select * from final

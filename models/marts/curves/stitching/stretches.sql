-- Grain: one row per (log_id, segment_idx): a maximal stretch of one log along which position does not go back.
-- Decides the order of an arm's segments: by their first times, then (where a tracker tells none) by run and log.
with placed_rows as (select * from {{ ref('placed_rows') }}),

logs as (select * from {{ ref('logs') }}),

stretches as (
    select
        arm,
        run_id,
        log_id,
        segment_idx,
        min_by(happened_at, case when row_class = 'core' and happened_at is not null then row_idx end) as started_at,
        max(happened_at) as ended_at,
        min(case when row_class = 'core' then row_idx end) as first_row_idx,
        min(case when row_class = 'core' then position end) as first_position,
        max(case when row_class = 'core' then position end) as last_position,
        count(*) as row_count,
        count(distinct case when row_class = 'core' then position end) as logged_step_count
    from placed_rows
    group by arm, run_id, log_id, segment_idx
),

median_gaps as (
    select
        log_id,
        segment_idx,
        median(gap) as median_gap
    from {{ ref('logged_gaps') }}
    group by log_id, segment_idx
),

final as (
    select
        stretches.arm,
        cast(
            row_number() over (
                partition by stretches.arm
                order by
                    stretches.started_at asc nulls last,
                    stretches.run_id asc,
                    logs.log_number asc,
                    stretches.log_id asc,
                    stretches.first_row_idx asc
            ) as bigint
        ) as segment_number,
        stretches.run_id,
        stretches.log_id,
        stretches.segment_idx,
        stretches.started_at,
        stretches.ended_at,
        stretches.first_row_idx,
        stretches.first_position,
        stretches.last_position,
        stretches.row_count,
        stretches.logged_step_count,
        coalesce(median_gaps.median_gap, 0) as median_gap
    from stretches
    inner join logs on stretches.log_id = logs.log_id
    inner join median_gaps
        on stretches.log_id = median_gaps.log_id and stretches.segment_idx = median_gaps.segment_idx
)

select * from final

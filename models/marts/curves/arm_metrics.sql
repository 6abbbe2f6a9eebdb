-- Grain: one row per (arm, training_step, metric).
-- Decides the value of a step that was logged in several rows: the last that is not null, the main track's first.
with kept_rows as (
    select
        run_rows.log_id,
        run_rows.row_idx,
        run_rows.arm,
        run_rows.training_step,
        count(*) over (partition by run_rows.arm, run_rows.training_step) > 1 as has_company,
        row_number() over (
            partition by run_rows.arm, run_rows.training_step
            order by
                case when segments.is_main_track then 1 else 0 end,
                run_rows.segment_number,
                run_rows.position,
                run_rows.row_idx
        ) as row_rank
    from {{ ref('run_rows') }} as run_rows
    inner join {{ ref('segments') }} as segments
        on run_rows.arm = segments.arm and run_rows.segment_number = segments.segment_number
    where run_rows.drop_reason is null
),

history as (
    select * from {{ ref('stg_history__values') }}
    where substr(metric, 1, 1) <> '_'
),

ambiguous_names as (
    select
        log_id,
        metric
    from {{ ref('nested_metrics') }}
    where is_ambiguous
),

logged as (
    select
        kept_rows.arm,
        kept_rows.training_step,
        history.metric,
        history.value,
        history.value_text,
        kept_rows.row_rank,
        history.key_path,
        kept_rows.has_company or ambiguous_names.metric is not null as has_several
    from history
    inner join kept_rows on history.log_id = kept_rows.log_id and history.row_idx = kept_rows.row_idx
    left join ambiguous_names
        on history.log_id = ambiguous_names.log_id and history.metric = ambiguous_names.metric
),

ranked as (
    select
        *,
        row_number() over best_first as preference
    from logged
    where has_several
    window best_first as (
        partition by arm, training_step, metric
        order by
            case when value is null and value_text is null then 1 else 0 end asc,
            row_rank desc,
            key_path asc nulls first
    )
),

final as (
    select
        arm,
        training_step,
        metric,
        value,
        value_text
    from logged
    where not has_several
    union all
    select
        arm,
        training_step,
        metric,
        value,
        value_text
    from ranked
    where preference = 1
)

select * from final

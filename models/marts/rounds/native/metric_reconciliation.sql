-- Grain: one row per (run_id, step, metric).
-- Compares the trainer's native metrics with the W&B history of the same run. A history row's step is its
-- `training/global_step` where it has one, else `_step`; where several rows hold a step, the latest stands.
with native as (select * from {{ ref('training_metrics') }}),

native_runs as (select distinct run_id from native),

tracked_rows as (
    select
        identities.run_id,
        usable_rows.log_id,
        usable_rows.row_idx,
        usable_rows.step_idx,
        usable_rows.happened_at
    from {{ ref('usable_rows') }} as usable_rows
    inner join {{ ref('run_identities') }} as identities
        on usable_rows.run_id = identities.reported_run_id
    inner join native_runs on identities.run_id = native_runs.run_id
    where usable_rows.producer <> 'verl' and not usable_rows.is_duplicate_kind and not usable_rows.is_excluded
),

history as (select * from {{ ref('stg_history__values') }}),

stepped as (
    select
        tracked_rows.run_id,
        tracked_rows.log_id,
        tracked_rows.row_idx,
        tracked_rows.happened_at,
        coalesce(try_cast(counters.value as bigint), tracked_rows.step_idx) as step
    from tracked_rows
    left join history as counters
        on
            tracked_rows.log_id = counters.log_id
            and tracked_rows.row_idx = counters.row_idx
            and counters.metric = 'training/global_step'
            and counters.key_path is null
),

tracked as (
    select
        stepped.run_id,
        stepped.step,
        history.metric,
        history.value,
        history.value_text,
        row_number() over (
            partition by stepped.run_id, stepped.step, history.metric
            order by
                stepped.happened_at desc nulls last,
                stepped.log_id desc,
                stepped.row_idx desc,
                history.key_path asc nulls first
        ) as recency
    from stepped
    inner join history on stepped.log_id = history.log_id and stepped.row_idx = history.row_idx
    where stepped.step is not null and substr(history.metric, 1, 1) <> '_'
),

paired as (
    select
        native.run_id,
        native.step,
        native.metric,
        native.native_value,
        tracked.value as wandb_value,
        native.native_value_text,
        tracked.value_text as wandb_value_text,
        {{ finite_or_null('native.native_value') }} as native_number,
        {{ finite_or_null('tracked.value') }} as wandb_number
    from native
    inner join tracked
        on native.run_id = tracked.run_id and native.step = tracked.step and native.metric = tracked.metric
    where tracked.recency = 1
),

final as (
    select
        run_id,
        step,
        metric,
        native_value,
        wandb_value,
        native_value_text,
        wandb_value_text,
        -- verl writes NaN and infinities as null, W&B as they are: null beside any of them is agreement.
        coalesce(native_number = wandb_number, native_number is null and wandb_number is null)
        and coalesce(
            native_value_text = wandb_value_text, native_value_text is null and wandb_value_text is null
        ) as agrees
    from paired
)

select * from final

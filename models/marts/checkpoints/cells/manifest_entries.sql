-- Grain: one row per model_id of the published index: the checkpoints of valid cells, and their baselines.
-- Decides what the index says of a baseline: hour 0, no tokens spent, packaged as its own files say.
with checkpoints as (select * from {{ ref('checkpoints') }}),

cells as (select * from {{ ref('cells') }}),

packaging as (select * from {{ ref('checkpoint_packaging') }}),

known_baselines as (
    select
        records.stated_model_id as model_id,
        regexp_extract(records.stated_model_id, '([^/]+)$', 1) as model_name,
        records.source,
        case when packaging.source_name is null then records.published_eos_ok else packaging.eos_ok end as eos_ok,
        case when packaging.source_name is null then records.published_eos_token_ids else packaging.eos_token_ids end
            as eos_token_ids
    from {{ ref('checkpoint_records') }} as records
    left join packaging on records.source_name = packaging.source_name and records.folder_idx = packaging.folder_idx
    where records.is_baseline
),

declared_baselines as (
    select distinct
        model_id,
        regexp_extract(model_id, '([^/]+)$', 1) as model_name
    from {{ ref('suite_baselines') }}
),

baselines as (
    select
        coalesce(declared_baselines.model_id, known_baselines.model_id) as model_id,
        known_baselines.source,
        known_baselines.eos_ok,
        known_baselines.eos_token_ids,
        row_number() over best_known as known_rank
    from declared_baselines
    full outer join known_baselines on declared_baselines.model_name = known_baselines.model_name
    window best_known as (
        partition by coalesce(declared_baselines.model_id, known_baselines.model_id)
        order by case when known_baselines.eos_ok is null then 1 else 0 end, known_baselines.source nulls last
    )
),

final as (
    select
        model_id,
        'BASELINE' as cell,
        cast(null as string) as driver,
        cast(null as string) as effort,
        cast(0 as double) as hour,
        'baseline' as hour_source,
        cast(null as double) as hour_upper_bound,
        cast(0 as bigint) as driver_tokens_at_hour,
        'baseline' as role,
        eos_ok,
        eos_token_ids,
        coalesce(source, model_id) as source
    from baselines
    where known_rank = 1
    union all
    select
        checkpoints.model_id,
        checkpoints.cell,
        cells.driver,
        cells.effort,
        checkpoints.hour,
        checkpoints.hour_source,
        checkpoints.hour_upper_bound,
        checkpoints.driver_tokens_at_hour,
        checkpoints.role,
        checkpoints.eos_ok,
        checkpoints.eos_token_ids,
        checkpoints.source
    from checkpoints
    inner join cells on checkpoints.cell = cells.cell
    where cells.is_valid
)

select * from final

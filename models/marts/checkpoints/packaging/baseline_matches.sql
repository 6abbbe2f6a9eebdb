-- Grain: one row per checkpoint with tensors of a base to compare with (checkpoint_key).
-- Decides whether a checkpoint is the model that it started from: every tensor of it has the type, the shape and the
-- digest that the base's has. A base is a declared baseline, or a landed model of the name that its config states.
with records as (select * from {{ ref('checkpoint_records') }}),

tensors as (select * from {{ ref('stg_checkpoints__tensors') }}),

broken as (
    select distinct
        source_name,
        folder_idx
    from {{ ref('stg_checkpoints__files') }}
    where problem is not null
),

stated as (
    select
        source_name,
        folder_idx,
        {{ name_after_slash('model_name') }} as base_name
    from {{ ref('packaging_files') }}
    where not is_adapter
),

bases as (
    select
        checkpoint_key,
        source_name,
        folder_idx,
        stated_model_id,
        is_baseline,
        {{ name_after_slash('stated_model_id') }} as base_name
    from records
    where is_baseline or (cell is null and source_kind = 'folder')
),

pairs as (
    select
        records.checkpoint_key,
        records.source_name,
        records.folder_idx,
        bases.stated_model_id as baseline_model_id,
        bases.source_name as base_source_name,
        bases.folder_idx as base_folder_idx,
        broken.source_name is not null as is_partial
    from records
    inner join stated on records.source_name = stated.source_name and records.folder_idx = stated.folder_idx
    inner join bases
        on
            records.checkpoint_key <> bases.checkpoint_key
            and (bases.is_baseline or stated.base_name = bases.base_name)
    left join broken on records.source_name = broken.source_name and records.folder_idx = broken.folder_idx
    where not records.is_baseline
),

compared as (
    select
        pairs.checkpoint_key,
        pairs.baseline_model_id,
        pairs.is_partial,
        count(*) as tensor_count,
        count(theirs.tensor_name) as common_count,
        sum(
            case
                when
                    mine.digest = theirs.digest and mine.dtype is not distinct from theirs.dtype
                    and mine.shape is not distinct from theirs.shape
                    then 1
                else 0
            end
        ) as equal_count,
        sum(case when mine.is_sampled then 1 else 0 end) as sampled_count
    from pairs
    inner join tensors as mine on pairs.source_name = mine.source_name and pairs.folder_idx = mine.folder_idx
    left join tensors as theirs
        on
            pairs.base_source_name = theirs.source_name
            and pairs.base_folder_idx = theirs.folder_idx
            and mine.tensor_name = theirs.tensor_name
    group by pairs.checkpoint_key, pairs.baseline_model_id, pairs.is_partial
),

ranked as (
    select
        *,
        row_number() over nearest_first as match_rank
    from compared
    where common_count > 0
    window nearest_first as (
        partition by checkpoint_key order by equal_count desc, common_count desc, baseline_model_id asc
    )
),

final as (
    select
        checkpoint_key,
        baseline_model_id,
        cast(tensor_count as bigint) as tensor_count,
        cast(equal_count as bigint) as equal_count,
        cast(sampled_count as bigint) as sampled_count,
        -- What is equal so far says nothing of a file that can't be read.
        case when equal_count < tensor_count then false when not is_partial then true end as equals_baseline
    from ranked
    where match_rank = 1
)

select * from final

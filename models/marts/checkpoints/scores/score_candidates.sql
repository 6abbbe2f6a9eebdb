-- Grain: one row per line of a scores file (source_name, line_number).
-- Decides which baseline a score may be compared with (the same harness), and which of several scores stands.
with records as (
    select * from {{ ref('checkpoint_records') }}
    where not is_baseline
),

-- The id of a bare checkpoint is its path. A score may name it by its last name, where that is of one alone.
last_names as (
    select
        {{ name_after_slash('stated_model_id') }} as last_name,
        min(checkpoint_key) as checkpoint_key
    from records
    where cell is null and source_kind = 'folder'
    group by {{ name_after_slash('stated_model_id') }}
    having count(*) = 1
),

scores as (
    select
        scores.source_name,
        scores.line_number,
        scores.path,
        scores.stated_model_id,
        scores.suite,
        scores.score,
        scores.harness,
        coalesce(records.checkpoint_key, last_names.checkpoint_key, scores.checkpoint_key) as checkpoint_key
    from {{ ref('stg_checkpoints__scores') }} as scores
    left join records on scores.checkpoint_key = records.checkpoint_key
    left join last_names on scores.stated_model_id = last_names.last_name
),

baselines as (
    select * from {{ ref('suite_baselines') }}
    where harness_rank = 1
),

suites as (
    select
        suite,
        max(suite_baseline_count) as suite_baseline_count
    from {{ ref('suite_baselines') }}
    group by suite
),

-- A harness that one side does not state is taken for the other's, where the suite has one baseline.
paired as (
    select
        scores.*,
        baselines.score as baseline_score,
        baselines.model_id as baseline_model_id,
        baselines.suite is not null as has_baseline,
        coalesce(suites.suite_baseline_count, 0) as suite_baseline_count,
        coalesce(not isnan(scores.score) and abs(scores.score) < cast('Infinity' as double), false) as is_finite
    from scores
    left join suites on scores.suite = suites.suite
    left join baselines
        on
            scores.suite = baselines.suite
            and (
                scores.harness = baselines.harness
                or (
                    (scores.harness is null or baselines.harness is null)
                    and baselines.suite_baseline_count = 1
                )
            )
)

select
    source_name,
    line_number,
    checkpoint_key,
    stated_model_id,
    suite,
    score,
    harness,
    baseline_score,
    baseline_model_id,
    has_baseline,
    suite_baseline_count,
    is_finite,
    cast(row_number() over best_first as bigint) as standing_rank
from paired
window best_first as (
    partition by checkpoint_key, suite
    order by
        case when has_baseline then 0 else 1 end,
        case when is_finite then 0 else 1 end,
        path desc,
        line_number desc
)

-- Grain: one row per (kind, subject).
-- Decides what about scores a person should look at.
with candidates as (select * from {{ ref('score_candidates') }}),

baselines as (select * from {{ ref('suite_baselines') }}),

known as (
    select
        checkpoint_key,
        model_id
    from {{ ref('checkpoints') }}
    union all
    select
        checkpoint_key,
        stated_model_id as model_id
    from {{ ref('checkpoint_records') }}
    where is_baseline
    union all
    select distinct
        baselines.model_id as checkpoint_key,
        baselines.model_id
    from baselines
    left join {{ ref('checkpoint_records') }} as records on baselines.model_id = records.checkpoint_key
    where records.checkpoint_key is null
),

named as (
    select
        candidates.*,
        known.model_id,
        coalesce(known.model_id, candidates.checkpoint_key) || ' on ' || candidates.suite as subject
    from candidates
    left join known on candidates.checkpoint_key = known.checkpoint_key
)

select
    'score_for_unknown_model' as kind,
    subject,
    'warn' as severity,
    'no checkpoint of that name has landed (score ' || coalesce(cast(max(score) as string), 'null') || ')' as detail,
    {{ findings_page('score_for_unknown_model') }} as remedy
from named
where model_id is null
group by subject
union all
select
    'conflicting_scores' as kind,
    subject,
    'warn' as severity,
    cast(count(*) as string) || ' scores, from ' || cast(min(score) as string) || ' to ' || cast(max(score) as string)
    || '; the last that can be compared stands' as detail,
    {{ findings_page('conflicting_scores') }} as remedy
from named
where score is not null
group by subject
having min(score) is distinct from max(score)
union all
select
    'score_not_finite' as kind,
    subject,
    'warn' as severity,
    cast(count(*) as string) || ' scores are NaN, infinite or empty' as detail,
    {{ findings_page('score_not_finite') }} as remedy
from named
where not is_finite
group by subject
union all
select
    'zero_gain' as kind,
    model_id || ' on ' || suite as subject,
    'info' as severity,
    'its score equals the baseline: no cost per point' as detail,
    {{ findings_page('zero_gain') }} as remedy
from {{ ref('checkpoint_scores') }}
where gain = 0 and cost_status <> 'baseline'
union all
select
    'baseline_score_differs' as kind,
    named.subject,
    'warn' as severity,
    'scored ' || cast(max(named.score) as string) || ', declared ' || cast(max(named.baseline_score) as string)
        as detail,
    {{ findings_page('baseline_score_differs') }} as remedy
from named
where named.model_id = named.baseline_model_id and named.score is distinct from named.baseline_score
group by named.subject

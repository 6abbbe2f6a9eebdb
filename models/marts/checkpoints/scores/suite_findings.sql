-- Grain: one row per (kind, subject).
-- Decides what about suites, their harnesses and baselines a person should look at.
with baselines as (select * from {{ ref('suite_baselines') }}),

suites as (
    select
        suite,
        count(*) as score_count,
        min(harness) as first_harness,
        max(harness) as last_harness,
        sum(case when harness is null then 1 else 0 end) as unstated_count,
        sum(case when has_baseline then 1 else 0 end) as compared_count,
        max(suite_baseline_count) as baseline_count
    from {{ ref('score_candidates') }}
    group by suite
)

select
    'harness_differs' as kind,
    suite as subject,
    'warn' as severity,
    case
        when first_harness <> last_harness
            then 'scored under ' || first_harness || ' and ' || last_harness
        else 'scored under ' || first_harness || ', but no baseline is declared for it'
    end || ': scores compare only within one harness' as detail,
    {{ findings_page('harness_differs') }} as remedy
from suites
where
    first_harness <> last_harness
    or (compared_count < score_count and baseline_count > 0)
union all
select
    'harness_not_stated' as kind,
    suite as subject,
    'info' as severity,
    cast(unstated_count as string) || ' scores do not say what ran the suite; the baseline''s harness is assumed'
        as detail,
    {{ findings_page('harness_not_stated') }} as remedy
from suites
where unstated_count > 0
union all
select
    'suite_without_baseline' as kind,
    suite as subject,
    'warn' as severity,
    cast(score_count as string) || ' scores, but declared/baselines.csv has no row: no gain can be stated' as detail,
    {{ findings_page('suite_without_baseline') }} as remedy
from suites
where baseline_count = 0
union all
select
    'several_baselines' as kind,
    suite || coalesce(' under ' || harness, '') as subject,
    'warn' as severity,
    cast(sum(row_count) as string) || ' rows of declared/baselines.csv for one suite and harness; the first stands'
        as detail,
    {{ findings_page('several_baselines') }} as remedy
from baselines
group by suite, harness, harness_key
having sum(row_count) > 1

-- Grain: one row: the campaign; none where no call of a formal run landed.
-- The calls of its formal runs in all; an unknown cost is counted, never taken as zero.
select
    count(*) as call_count,
    {{ exact_sum('cost_usd') }} as known_cost_usd,
    count(case when cost_source = 'unknown' then 1 end) as unknown_cost_call_count,
    count(case when step is null then 1 end) as call_without_step_count
from {{ ref('teacher_calls') }}
where not is_diagnostic
having count(*) > 0

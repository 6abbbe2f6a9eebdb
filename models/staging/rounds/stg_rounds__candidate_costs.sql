-- Grain: one row per (candidate's line, role).
select
    source_name,
    line_number,
    role,
    {{ finite_or_null('cost_usd') }} as cost_usd
from {{ source('rounds', 'rounds_candidate_costs') }}

-- Protects: running totals are never summed twice: what a session's reports add is its last total.
-- Fails when: the increments of a session that neither restarts nor replays do not sum to its last running total.
-- Not a check of: sessions that were forked, or whose counter fell.
select
    source_name,
    sum(spent_tokens) as spent_tokens,
    max(reported_tokens) as last_total
from {{ ref('driver_spending') }}
where usage_format = 'codex'
group by source_name
having
    not bool_or(is_reset)
    and not bool_or(is_inherited)
    and not bool_or(coalesce(drop_reason = 'replayed', false))
    and sum(spent_tokens) is distinct from max(reported_tokens)

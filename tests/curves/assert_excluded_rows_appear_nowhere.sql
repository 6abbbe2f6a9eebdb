-- Protects: a declared exclusion. Excluded rows neither appear on a curve nor make a segment that supersedes others.
-- Fails when: a row that an exclusion names has another label than `excluded` (or `duplicate_source`), or a segment.
-- Not a check of: rows without any time inside a declared time window.
select
    run_rows.run_id,
    run_rows.log_id,
    run_rows.row_idx,
    run_rows.drop_reason,
    run_rows.segment_number
from {{ ref('run_rows') }} as run_rows
inner join {{ ref('run_arms') }} as run_arms on run_rows.run_id = run_arms.run_id
inner join {{ source('declared', 'run_exclusions') }} as exclusions
    on
        (run_rows.run_id = exclusions.run_id or (exclusions.run_id is null and exclusions.arm is not null))
        and (
            exclusions.arm in (run_arms.arm, run_arms.variant_of)
            or (exclusions.arm is null and exclusions.run_id is not null)
        )
where
    (run_rows.logged_at >= exclusions.logged_from or exclusions.logged_from is null)
    and (run_rows.logged_at < exclusions.logged_until or exclusions.logged_until is null)
    and (
        run_rows.segment_number is not null
        or coalesce(run_rows.drop_reason, 'kept') not in ('excluded', 'duplicate_source')
    )

-- Protects: truncation. What a restart redid is not on the curve twice.
-- Fails when: a kept row lies at or after the start of a later segment of its track's chosen lineage.
-- Not a check of: which lineage was chosen.
select
    run_rows.arm,
    run_rows.log_id,
    run_rows.row_idx,
    run_rows.position,
    later.segment_number,
    later.first_position
from {{ ref('run_rows') }} as run_rows
inner join {{ ref('segments') }} as later
    on
        run_rows.arm = later.arm
        and run_rows.track_number = later.track_number
        and run_rows.segment_number < later.segment_number
        and run_rows.position >= later.first_position
where run_rows.drop_reason is null and later.is_chosen

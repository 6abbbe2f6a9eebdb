-- Protects: the verdicts. A window's counts are those of its candidates, its fraction lies within its bounds.
-- Fails when: a window loses or repeats task rows, or its bounds do not hold its fraction.
-- Not a check of: thresholds and completeness.
with counted as (
    select
        windows.run_id,
        windows.window_name,
        count(candidates.run_id) as candidate_count,
        count(case when candidates.is_valid then 1 end) as valid_count
    from {{ ref('validity_windows') }} as windows
    left join {{ ref('candidates') }} as candidates
        on
            windows.run_id = candidates.run_id
            and candidates.step between windows.first_step and windows.last_step
            and candidates.drop_reason is null
            and not candidates.is_diagnostic
    group by windows.run_id, windows.window_name
)

select
    windows.run_id,
    windows.window_name,
    windows.candidate_count,
    counted.candidate_count as counted_candidate_count,
    windows.valid_count,
    counted.valid_count as counted_valid_count
from {{ ref('validity_windows') }} as windows
left join counted on windows.run_id = counted.run_id and windows.window_name = counted.window_name
where
    windows.candidate_count is distinct from counted.candidate_count
    or windows.valid_count is distinct from counted.valid_count
    or windows.valid_fraction < windows.valid_fraction_low
    or windows.valid_fraction > windows.valid_fraction_high

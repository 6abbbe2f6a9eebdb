-- Grain: one row per (run_id, window_name, baseline_window_name).
-- Compares each window of a run with each of its baseline windows; bounds of the difference by Newcombe's method.
with windows as (select * from {{ ref('validity_windows') }}),

paired as (
    select
        windows.run_id,
        windows.window_name,
        baselines.window_name as baseline_window_name,
        windows.candidate_count,
        windows.valid_count,
        windows.valid_fraction,
        windows.valid_fraction_low,
        windows.valid_fraction_high,
        baselines.candidate_count as baseline_candidate_count,
        baselines.valid_count as baseline_valid_count,
        baselines.valid_fraction as baseline_valid_fraction,
        baselines.valid_fraction_low as baseline_low,
        baselines.valid_fraction_high as baseline_high,
        windows.is_complete and baselines.is_complete as is_complete
    from windows
    inner join windows as baselines on windows.run_id = baselines.run_id
    where baselines.role = 'baseline' and windows.role is distinct from 'baseline'
),

final as (
    select
        run_id,
        window_name,
        baseline_window_name,
        candidate_count,
        valid_count,
        valid_fraction,
        baseline_candidate_count,
        baseline_valid_count,
        baseline_valid_fraction,
        valid_count - baseline_valid_count as valid_count_difference,
        valid_fraction - baseline_valid_fraction as valid_fraction_difference,
        valid_fraction - baseline_valid_fraction - sqrt(
            (valid_fraction - valid_fraction_low) * (valid_fraction - valid_fraction_low)
            + (baseline_high - baseline_valid_fraction) * (baseline_high - baseline_valid_fraction)
        ) as valid_fraction_difference_low,
        valid_fraction - baseline_valid_fraction + sqrt(
            (valid_fraction_high - valid_fraction) * (valid_fraction_high - valid_fraction)
            + (baseline_valid_fraction - baseline_low) * (baseline_valid_fraction - baseline_low)
        ) as valid_fraction_difference_high,
        is_complete
    from paired
)

select * from final

-- Grain: one row per (kind, subject).
-- Decides what of the turns a person should look at: steps, calls and lengths that do not agree.
with rollouts as (select * from {{ ref('rollouts') }}),

misaligned as (
    select
        run_name,
        step_idx
    from rollouts
    where tool_block_count is not null and call_count is not null
    group by run_name, step_idx
    having count(*) filter (where tool_block_count = call_count) < {{ var('aligned_rollout_fraction') }} * count(*)
),

batches as (
    select
        *,
        max(block_call_difference_fraction) over (partition by arm) as worst_fraction,
        min(n_rollouts) over (partition by arm) = max(n_rollouts) over (partition by arm) as is_one_size
    from {{ ref('rollout_batches') }}
),

best as (select max(matching_fraction) as best_fraction from {{ ref('zero_run_calibration') }}),

calibration as (
    select
        tried.*,
        best.best_fraction
    from {{ ref('zero_run_calibration') }} as tried
    cross join best
),

final as (
    select
        'request_info_misaligned' as kind,
        run_name as subject,
        'warn' as severity,
        'blocks and reported calls agree in fewer than half of the rollouts of ' || count(*)
        || ' steps (first: step_idx ' || min(step_idx) || '): the trainer may have filtered one list and not the '
        || 'other, so calls, timeouts and tool errors of these steps belong to other rollouts' as detail,
        {{ findings_page('request_info_misaligned') }} as remedy
    from misaligned
    group by run_name
    union all
    select
        'batch_size_differs',
        batches.arm,
        'warn',
        count(*) || ' steps (first: training_step ' || min(batches.training_step) || ', with '
        || min_by(batches.n_rollouts, batches.training_step) || ' rollouts) do not have the declared '
        || max(batches.expected_rollouts_per_step),
        coalesce(
            case
                when count(*) > 1 then max(case when batches.is_one_size then {{ arms_line(
                    'batches.arm', 'declared', {'expected_rollouts_per_step': 'batches.n_rollouts'}
                ) }} end)
            end,
            {{ findings_page('batch_size_differs') }}
        )
    from batches
    inner join {{ source('declared', 'arms') }} as declared on batches.arm = declared.arm
    where batches.n_rollouts <> batches.expected_rollouts_per_step
    group by batches.arm
    union all
    select
        'blocks_and_calls_differ',
        arm,
        'warn',
        count(*) || ' steps differ by more than a fraction of {{ var("block_call_fraction") }} (worst: '
        || round(max(worst_fraction), 6) || ' at training_step '
        || min(case when block_call_difference_fraction = worst_fraction then training_step end) || ')',
        {{ findings_page('blocks_and_calls_differ') }}
    from batches
    where block_call_difference_fraction > {{ var('block_call_fraction') }}
    group by arm
    union all
    select
        'calibration_peaks_elsewhere',
        'min_zero_run_tokens',
        'warn',
        'blocks match calls most often at ' || min(case when matching_fraction = best_fraction then min_run_tokens end)
        || ' tokens (' || round(max(best_fraction), 4) || '), not at the chosen {{ var("min_zero_run_tokens") }}',
        {{ findings_page('calibration_peaks_elsewhere') }}
    from calibration
    having
        max(case when is_used then matching_rollout_count end) < max(matching_rollout_count)
    union all
    select
        'sequence_lengths_differ',
        arm,
        'warn',
        count(*) || ' steps (first: training_step ' || min(training_step) || ') have another mean response length than '
        || '{{ var("sequence_length_metric") }}: rollouts are missing, doubled, or joined to the wrong step',
        {{ findings_page('sequence_lengths_differ') }}
    from {{ ref('turn_reconciliation') }}
    where abs(difference) > {{ var('reconciliation_fraction') }} * abs(logged_sequence_length)
    group by arm
)

select
    kind,
    subject,
    'turns' as domain,
    severity,
    detail,
    remedy
from final

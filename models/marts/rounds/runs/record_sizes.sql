-- Grain: one row per (record_kind, run_id).
-- About how many bytes the records of a run take as JSON lines: its text, and 40 bytes for its label.
with candidates as (
    select
        source_name,
        count(*) as record_count,
        sum(40 + bit_length(line_json) / 8) as size_bytes
    from {{ ref('candidate_records') }}
    group by source_name
),

calls as (
    select
        source_name,
        count(*) as record_count,
        sum(40 + coalesce(bit_length(line_json), 0) / 8) as size_bytes
    from {{ ref('teacher_call_records') }}
    group by source_name
),

candidate_runs as (
    select
        source_name,
        min(run_id) as run_id
    from {{ ref('candidates') }}
    group by source_name
),

call_runs as (
    select
        source_name,
        min(run_id) as run_id
    from {{ ref('teacher_call_rows') }}
    group by source_name
),

final as (
    select
        'candidates' as record_kind,
        candidate_runs.run_id,
        cast(sum(candidates.record_count) as bigint) as record_count,
        cast(sum(candidates.size_bytes) as bigint) as size_bytes
    from candidates
    inner join candidate_runs on candidates.source_name = candidate_runs.source_name
    group by candidate_runs.run_id
    union all
    select
        'teacher_calls',
        call_runs.run_id,
        cast(sum(calls.record_count) as bigint),
        cast(sum(calls.size_bytes) as bigint)
    from calls
    inner join call_runs on calls.source_name = call_runs.source_name
    group by call_runs.run_id
)

select * from final

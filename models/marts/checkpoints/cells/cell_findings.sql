-- Grain: one row per (kind, subject).
-- Decides what about cells, their submissions, archives and session logs a person should look at.
with cells as (select * from {{ ref('cells') }}),

runs as (select * from {{ ref('stg_checkpoints__cells') }})

select
    'badly_packaged_cell' as kind,
    cell as subject,
    'warn' as severity,
    cast(eos_ok_count as string) || ' of ' || cast(eos_known_count as string)
    || ' checkpoints stop at the end of a turn; the scores of the others are floors' as detail,
    {{ findings_page('badly_packaged_cell') }} as remedy
from cells
where eos_ok_count < eos_known_count
union all
select
    'cell_not_declared' as kind,
    cell as subject,
    'warn' as severity,
    'exists in the data, but declared/cells.csv has no row for it' as detail,
    {{ declared_line('cells', {'cell': 'cell'}) }} as remedy
from cells
where not is_declared
union all
select
    'cell_without_data' as kind,
    cell as subject,
    'warn' as severity,
    'declared/cells.csv names it, but nothing of it has landed' as detail,
    {{ findings_page('cell_without_data') }} as remedy
from cells
where not is_in_data
union all
select
    'cell_in_several_sources' as kind,
    cell as subject,
    'warn' as severity,
    cast(count(*) as string) || ' folders; the one with the most checkpoints counts' as detail,
    {{ findings_page('cell_in_several_sources') }} as remedy
from runs
group by cell
having count(*) > 1
union all
select
    'cell_without_start' as kind,
    cell as subject,
    'warn' as severity,
    'run.json does not say when it started: its checkpoints have no hour' as detail,
    {{ findings_page('cell_without_start') }} as remedy
from runs
where is_standing and started_at is null
union all
select
    'cell_ends_before_its_start' as kind,
    cell as subject,
    'warn' as severity,
    'ended_at lies before started_at: every hour lies outside the run' as detail,
    {{ findings_page('cell_ends_before_its_start') }} as remedy
from runs
where is_standing and ended_at < started_at
union all
select
    'cell_without_submission' as kind,
    cell as subject,
    'warn' as severity,
    'the run has ended, but ' || cast(submitted_count as string) || ' of its checkpoints are submitted' as detail,
    {{ findings_page('cell_without_submission') }} as remedy
from cells
where ended_at is not null and submitted_count <> 1
union all
select
    'archived_checkpoint_missing' as kind,
    archives.checkpoint_key as subject,
    'info' as severity,
    coalesce('archived at ' || cast(min(case when archives.is_archive then archives.logged_at end) as string), 'logged')
    || ', but no folder of it is left' as detail,
    {{ findings_page('archived_checkpoint_missing') }} as remedy
from {{ ref('stg_checkpoints__archives') }} as archives
inner join {{ ref('checkpoints') }} as checkpoints on archives.checkpoint_key = checkpoints.checkpoint_key
where checkpoints.source_kind = 'archive'
group by archives.checkpoint_key

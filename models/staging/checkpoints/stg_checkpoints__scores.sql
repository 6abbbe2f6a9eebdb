-- Grain: one row per line of a scores file, with the checkpoint it names.
select
    scores.source_name,
    scores.line_number,
    sources.path,
    scores.model_id as stated_model_id,
    scores.suite,
    scores.score,
    scores.harness,
    {{ checkpoint_key('scores.cell', 'scores.family', 'scores.step_name', 'scores.model_id') }} as checkpoint_key
from {{ source('checkpoints', 'evaluation_scores') }} as scores
inner join {{ source('landing', 'landed_sources') }} as sources on scores.source_name = sources.source_name

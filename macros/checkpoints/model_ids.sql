{#- One part of a model id `[org/]cell.hHHH.family.step`; null where the id has another form. The cell ends at the first
    `.hHHH.`, the step is what follows the last dot. Parts: 1 org, 2 cell, 3 hour (`NA` where unknown), 4 family, 5 step. -#}
{% macro model_id_part(model_id, part) -%}
  nullif(regexp_extract({{ model_id }}, '^(?:([^/]+)/)?([^/]+?)[.]h([0-9]{3,}|NA)[.](.+)[.]([^.]+)$', {{ part }}), '')
{%- endmacro %}

{#- What names one checkpoint in every source: `cell/family/step`, else the id as it is. -#}
{% macro checkpoint_key(cell, family, step_name, model_id) -%}
  coalesce(
    {{ cell }} || '/' || {{ family }} || '/' || {{ step_name }},
    {{ model_id_part(model_id, 2) }} || '/' || {{ model_id_part(model_id, 4) }} || '/' || {{ model_id_part(model_id, 5) }},
    {{ model_id }}
  )
{%- endmacro %}

{#- One part of a model id `[org/]cell.hHHH.family.step`; null where the id has another form. The cell ends at the first
    `.hHHH.`, the step is what follows the last dot. Parts: 1 org, 2 cell, 3 hour (`NA` where unknown), 4 family, 5 step. -#}
{% macro model_id_part(model_id, part) -%}
  nullif(regexp_extract({{ model_id }}, '^(?:([^/]+)/)?([^/]+?)[.]h([0-9]{3,}|NA)[.](.+)[.]([^.]+)$', {{ part }}), '')
{%- endmacro %}

{#- What names one checkpoint in every source: `cell/family/step` (`cell/family` where it has no step), else the id. -#}
{% macro checkpoint_key(cell, family, step_name, model_id) -%}
  coalesce(
    {{ cell }} || '/' || {{ family }} || coalesce('/' || {{ step_name }}, ''),
    {{ model_id_part(model_id, 2) }} || '/' || {{ model_id_part(model_id, 4) }} || '/' || {{ model_id_part(model_id, 5) }},
    {{ model_id }}
  )
{%- endmacro %}

{#- A step as a number: its digits alone, or after the name that a trainer gives (`checkpoint-500`). Null for other names. -#}
{% macro step_number(step_name) -%}
  try_cast(
    regexp_extract({{ step_name }}, '^(?:(?:checkpoint|global_step|step|iter|iteration)[-_]?)?([0-9]+)$', 1) as bigint
  )
{%- endmacro %}

{#- What follows the last slash of a name. -#}
{% macro name_after_slash(name) -%}
  regexp_extract({{ name }}, '([^/]+)$', 1)
{%- endmacro %}

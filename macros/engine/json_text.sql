{#- The text of a JSON scalar: a JSON string without its quotes and escapes, any other value as it is written. -#}
{% macro json_text(json) -%}
  {{ adapter.dispatch('json_text', 'seamline')(json) }}
{%- endmacro %}

{% macro duckdb__json_text(json) -%}
  json_extract_string({{ json }}, '$')
{%- endmacro %}

{% macro spark__json_text(json) -%}
  get_json_object(concat('[', {{ json }}, ']'), '$[0]')
{%- endmacro %}

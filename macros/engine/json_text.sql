{#- The text of a JSON value: a JSON string without its quotes and escapes, null for null, any other value as it is
    written. (What an engine makes of `1e-05` when it reads it as a number is its own spelling.) -#}
{% macro json_text(json) -%}
  case
    when trim({{ json }}) like '"%' then {{ adapter.dispatch('json_string', 'seamline')(json) }}
    when trim({{ json }}) <> 'null' then trim({{ json }})
  end
{%- endmacro %}

{% macro duckdb__json_string(json) -%}
  json_extract_string({{ json }}, '$')
{%- endmacro %}

{% macro spark__json_string(json) -%}
  get_json_object(concat('[', {{ json }}, ']'), '$[0]')
{%- endmacro %}

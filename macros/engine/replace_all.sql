{#- A text with every match of a pattern replaced. -#}
{% macro replace_all(text, pattern, replacement) -%}
  {{ adapter.dispatch('replace_all', 'seamline')(text, pattern, replacement) }}
{%- endmacro %}

{% macro duckdb__replace_all(text, pattern, replacement) -%}
  regexp_replace({{ text }}, '{{ pattern }}', '{{ replacement }}', 'g')
{%- endmacro %}

{% macro spark__replace_all(text, pattern, replacement) -%}
  regexp_replace({{ text }}, '{{ pattern }}', '{{ replacement }}')
{%- endmacro %}

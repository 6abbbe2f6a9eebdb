{#- A text in which every match of a regular expression is replaced. `text` is an SQL expression; pattern and replacement
    are plain texts without quotes, of what RE2 and Java read alike. -#}
{% macro replace_all(text, pattern, replacement) -%}
  {{ adapter.dispatch('replace_all', 'seamline')(text, "'" ~ pattern ~ "'", "'" ~ replacement ~ "'") }}
{%- endmacro %}

{% macro duckdb__replace_all(text, pattern, replacement) -%}
  regexp_replace({{ text }}, {{ pattern }}, {{ replacement }}, 'g')
{%- endmacro %}

{#- In Spark's literals a backslash escapes. -#}
{% macro spark__replace_all(text, pattern, replacement) -%}
  regexp_replace({{ text }}, {{ pattern | replace('\\', '\\\\') }}, {{ replacement }})
{%- endmacro %}

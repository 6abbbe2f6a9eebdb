{#- Whether a text matches a glob of `*` (any text) and `?` (one character); every other character stands for itself.
    Both arguments are SQL expressions. Null where either is null. -#}
{% macro matches_glob(text, pattern) -%}
  {{ adapter.dispatch('matches_glob', 'seamline')(text, pattern) }}
{%- endmacro %}

{% macro duckdb__matches_glob(text, pattern) -%}
  ({{ text }} glob replace(replace({{ pattern }}, chr(92), chr(92) || chr(92)), '[', '[[]'))
{%- endmacro %}

{% macro spark__matches_glob(text, pattern) -%}
  ({{ text }} like replace(replace(replace(replace(replace({{ pattern }}, '!', '!!'), '%', '!%'), '_', '!_'), '*', '%'), '?', '_') escape '!')
{%- endmacro %}

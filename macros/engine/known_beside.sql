{#- The nearest value that is not null, in the rows of a window that ends (last) or begins (first) at the row. What
    follows is `over` and the window. -#}
{% macro last_known(value) -%}
  {{ adapter.dispatch('known_beside', 'seamline')('last_value', value) }}
{%- endmacro %}

{% macro first_known(value) -%}
  {{ adapter.dispatch('known_beside', 'seamline')('first_value', value) }}
{%- endmacro %}

{% macro duckdb__known_beside(function, value) -%}
  {{ function }}({{ value }} ignore nulls)
{%- endmacro %}

{% macro spark__known_beside(function, value) -%}
  {{ function }}({{ value }}) ignore nulls
{%- endmacro %}

{#- The texts of a group joined, in an order. -#}
{% macro joined_text(text, separator, order) -%}
  {{ adapter.dispatch('joined_text', 'seamline')(text, "'" ~ separator ~ "'", order) }}
{%- endmacro %}

{% macro duckdb__joined_text(text, separator, order) -%}
  string_agg({{ text }}, {{ separator }} order by {{ order }})
{%- endmacro %}

{% macro spark__joined_text(text, separator, order) -%}
  listagg({{ text }}, {{ separator }}) within group (order by {{ order }})
{%- endmacro %}

{#- What follows a relation in `from` to give one row per item of its two lists, which have one length: the items are
    `first_item` and `second_item`. Null and empty lists give no row. -#}
{% macro explode_pairs(first_list, first_item, second_list, second_item) -%}
  {{ adapter.dispatch('explode_pairs', 'seamline')(first_list, first_item, second_list, second_item) }}
{%- endmacro %}

{% macro duckdb__explode_pairs(first_list, first_item, second_list, second_item) -%}
  cross join lateral (select unnest({{ first_list }}) as {{ first_item }}, unnest({{ second_list }}) as {{ second_item }}) as pairs
{%- endmacro %}

{% macro spark__explode_pairs(first_list, first_item, second_list, second_item) -%}
  cross join lateral inline(arrays_zip({{ first_list }}, {{ second_list }})) as pairs ({{ first_item }}, {{ second_item }})
{%- endmacro %}

{#- The statements that make an empty table, whatever stood there: `columns` are names and types. -#}
{% macro duckdb__empty_table(relation, columns) %}
  {%- do return(['create or replace table ' ~ relation ~ ' (' ~ columns ~ ')']) -%}
{% endmacro %}

{% macro spark__empty_table(relation, columns) %}
  {%- do return(['drop table if exists ' ~ relation, 'create table ' ~ relation ~ ' (' ~ columns ~ ') using parquet']) -%}
{% endmacro %}

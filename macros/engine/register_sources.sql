{#- Makes one relation per declared source table, its columns and types being those of the YAML: landing tables from
    <home>/landing/<table>/*.parquet, declared facts from <home>/declared/<table>.csv. Runs before every dbt command. -#}
{% macro register_sources() %}
  {%- if execute -%}
    {%- for node in graph.sources.values() -%}
      {%- do adapter.dispatch('register_source', 'seamline')(node) -%}
    {%- endfor -%}
  {%- endif -%}
{% endmacro %}

{% macro source_folder(node) -%}
  {{ env_var('SEAMLINE_HOME', 'home') }}/{{ node.source_meta.folder }}
{%- endmacro %}

{% macro duckdb__register_source(node) %}
  {%- set folder = source_folder(node) | replace("'", "''") -%}
  {%- set columns = [] -%}
  {%- for c in node.columns.values() -%}
    {%- do columns.append('cast("' ~ c.name ~ '" as ' ~ c.data_type ~ ') as "' ~ c.name ~ '"') -%}
  {%- endfor -%}
  {%- if node.source_meta.format == 'csv' -%}
    {%- set reader = "read_csv('" ~ folder ~ '/' ~ node.name ~ ".csv', header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"')" -%}
  {%- else -%}
    {%- set reader = "read_parquet('" ~ folder ~ '/' ~ node.name ~ "/*.parquet')" -%}
  {%- endif -%}
  {%- do run_query('create schema if not exists "' ~ node.schema ~ '"') -%}
  {%- do run_query('create or replace view "' ~ node.schema ~ '"."' ~ node.name ~ '" as select ' ~ columns | join(', ') ~ ' from ' ~ reader) -%}
{% endmacro %}

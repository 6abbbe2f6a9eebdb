{#- Makes one relation per declared source table, its columns and types being those of the YAML: landing tables from
    <home>/landing/<table>/*.parquet, declared facts from <home>/declared/<table>.csv. Runs before every dbt command. -#}
{% macro register_sources() %}
  {%- if execute -%}
    {%- set statements = [] -%}
    {%- for schema in graph.sources.values() | map(attribute='schema') | unique -%}
      {%- do statements.append('create schema if not exists ' ~ adapter.quote(schema)) -%}
    {%- endfor -%}
    {%- for node in graph.sources.values() -%}
      {%- do statements.append(adapter.dispatch('source_relation', 'seamline')(node)) -%}
    {%- endfor -%}
    {{- adapter.dispatch('run_statements', 'seamline')(statements) -}}
  {%- endif -%}
{% endmacro %}

{% macro duckdb__run_statements(statements) %}
  {%- do run_query(statements | join(';\n')) -%}
{% endmacro %}

{% macro source_folder(node) -%}
  {{ env_var('SEAMLINE_HOME', 'home') }}/{{ node.source_meta.folder }}
{%- endmacro %}

{% macro duckdb__source_relation(node) -%}
  {%- set folder = source_folder(node) | replace("'", "''") -%}
  create or replace view "{{ node.schema }}"."{{ node.name }}" as
  select
    {%- for c in node.columns.values() %}
    cast("{{ c.name }}" as {{ c.data_type }}) as "{{ c.name }}"{{ ',' if not loop.last }}
    {%- endfor %}
  {%- if node.source_meta.format == 'csv' %}
  from read_csv('{{ folder }}/{{ node.name }}.csv', header = true, all_varchar = true, delim = ',', quote = '"', escape = '"', comment = '', skip = 0)
  {%- else %}
  from read_parquet('{{ folder }}/{{ node.name }}/*.parquet')
  {%- endif %}
{%- endmacro %}

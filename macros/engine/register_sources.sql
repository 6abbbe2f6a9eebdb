{#- Makes one relation per declared source table, its columns and types being those of the YAML: landing tables from
    <home>/landing/<table>/*.parquet, declared facts from <home>/declared/<table>.csv. Runs before every dbt command. -#}
{% macro register_sources() %}
  {%- if execute -%}
    {%- set schemas = [] -%}
    {%- for schema in graph.sources.values() | map(attribute='schema') | unique -%}
      {%- do schemas.append('create schema if not exists ' ~ adapter.quote(schema)) -%}
    {%- endfor -%}
    {{- adapter.dispatch('run_statements', 'seamline')(schemas) -}}
    {%- set statements = [] -%}
    {%- for node in graph.sources.values() -%}
      {%- do statements.extend(adapter.dispatch('source_relation', 'seamline')(node)) -%}
    {%- endfor -%}
    {{- adapter.dispatch('run_statements', 'seamline')(statements) -}}
  {%- endif -%}
{% endmacro %}

{% macro duckdb__run_statements(statements) %}
  {%- do run_query(statements | join(';\n')) -%}
{% endmacro %}

{#- Spark takes one statement at a time. -#}
{% macro spark__run_statements(statements) %}
  {%- for statement in statements -%}
    {%- do run_query(statement) -%}
  {%- endfor -%}
{% endmacro %}

{% macro source_folder(node) -%}
  {{ env_var('SEAMLINE_HOME', 'home') }}/{{ node.source_meta.folder }}
{%- endmacro %}

{#- The statements that make one source table: on DuckDB a view; on Spark an external table over the same files (of CSV
    a view of one, for its cells are text). -#}
{% macro duckdb__source_relation(node) %}
  {%- set folder = source_folder(node) | replace("'", "''") -%}
  {%- set statement -%}
  create or replace view "{{ node.schema }}"."{{ node.name }}" as
  select
    {%- for c in node.columns.values() %}
    cast("{{ c.name }}" as {{ c.data_type }}) as "{{ c.name }}"{{ ',' if not loop.last }}
    {%- endfor %}
  {%- if node.source_meta.format == 'csv' %}
  {#- A column that the file leaves out is null in every row. #}
  from (
    select {% for c in node.columns.values() %}cast(null as varchar) as "{{ c.name }}"{{ ', ' if not loop.last }}{% endfor %}
    where false
    union all by name
    from read_csv('{{ folder }}/{{ node.name }}.csv', header = true, all_varchar = true, delim = ',', quote = '"', escape = '"', comment = '', skip = 0)
  )
  {%- else %}
  from read_parquet('{{ folder }}/{{ node.name }}/*.parquet')
  {%- endif %}
  {%- endset -%}
  {%- do return([statement]) -%}
{% endmacro %}

{% macro spark__source_relation(node) %}
  {%- set folder = 'file:' ~ source_folder(node) | replace('\\', '\\\\') | replace("'", "\\'") -%}
  {%- set relation = '`' ~ node.schema ~ '`.`' ~ node.name ~ '`' -%}
  {%- if node.source_meta.format != 'csv' -%}
    {%- set columns = [] -%}
    {%- for c in node.columns.values() -%}
      {%- do columns.append('`' ~ c.name ~ '` ' ~ spark_type(c.data_type)) -%}
    {%- endfor -%}
    {%- do return([
      'drop table if exists ' ~ relation,
      'create table ' ~ relation ~ ' (' ~ columns | join(', ') ~ ") using parquet location '" ~ folder ~ '/' ~ node.name ~ "'"
    ]) -%}
  {%- endif -%}
  {%- set cells = '`' ~ node.schema ~ '`.`' ~ node.name ~ '_cells`' -%}
  {%- do run_query('drop table if exists ' ~ cells) -%}
  {%- do run_query('create table ' ~ cells ~ " using csv options (path '" ~ folder ~ '/' ~ node.name ~ ".csv', header 'true', escape '\"', multiLine 'true')") -%}
  {%- set stated = run_query('select * from ' ~ cells ~ ' limit 0').column_names -%}
  {%- set columns = [] -%}
  {%- for c in node.columns.values() -%}
    {#- A column that the file leaves out is null in every row. A declared time may name its zone; what is kept is UTC. -#}
    {%- set cell = '`' ~ c.name ~ '`' if c.name in stated else 'cast(null as string)' -%}
    {%- set cell = 'cast(' ~ cell ~ ' as timestamp_ltz)' if c.data_type == 'timestamp' else cell -%}
    {%- do columns.append('cast(' ~ cell ~ ' as ' ~ c.data_type ~ ') as `' ~ c.name ~ '`') -%}
  {%- endfor -%}
  {%- do return(['create or replace view ' ~ relation ~ ' as select ' ~ columns | join(', ') ~ ' from ' ~ cells]) -%}
{% endmacro %}

{#- Spark's spelling of a portable type: `bigint[]` is `array<bigint>`. -#}
{% macro spark_type(data_type) -%}
  {{ 'array<' ~ data_type[:-2] ~ '>' if data_type.endswith('[]') else data_type }}
{%- endmacro %}

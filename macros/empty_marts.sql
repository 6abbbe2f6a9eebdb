{#- Whether a model's folder is in SEAMLINE_IDLE (`marts/turns,staging/rollouts`): `seamline build` names there the
    folders without evidence, and builds the others. Empty where dbt is run by hand. -#}
{% macro is_idle(node) %}
  {%- do return((node.fqn[1] ~ '/' ~ node.fqn[2]) in env_var('SEAMLINE_IDLE', '').split(',')) -%}
{% endmacro %}

{#- Makes the marts of idle folders empty tables or views, all at once. -#}
{% macro empty_marts() %}
  {%- if execute -%}
    {%- set statements = [] -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.fqn[1] == 'marts' and is_idle(node) -%}
      {%- set columns = [] -%}
      {%- set nulls = [] -%}
      {%- for c in node.columns.values() -%}
        {%- do columns.append(adapter.quote(c.name) ~ ' ' ~ c.data_type) -%}
        {%- do nulls.append('cast(null as ' ~ c.data_type ~ ') as ' ~ adapter.quote(c.name)) -%}
      {%- endfor -%}
      {%- set relation = adapter.quote(node.schema) ~ '.' ~ adapter.quote(node.name) -%}
      {%- if node.config.materialized == 'view' -%}
        {%- do statements.append('create or replace view ' ~ relation ~ ' as select ' ~ nulls | join(', ') ~ ' where false') -%}
      {%- else -%}
        {%- do statements.extend(adapter.dispatch('empty_table', 'seamline')(relation, columns | join(', '))) -%}
      {%- endif -%}
    {%- endfor -%}
    {%- if statements -%}
      {{- adapter.dispatch('run_statements', 'seamline')(statements) -}}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}

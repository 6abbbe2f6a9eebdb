{#- Whether a model's folder is in SEAMLINE_IDLE (`marts/turns,staging/rollouts`): `seamline build` names there the
    folders without evidence, and builds the others. Empty where dbt is run by hand. -#}
{% macro is_idle(node) %}
  {%- do return((node.fqn[1] ~ '/' ~ node.fqn[2]) in env_var('SEAMLINE_IDLE', '').split(',')) -%}
{% endmacro %}

{#- Makes the marts of idle folders empty tables, all at once. -#}
{% macro empty_marts() %}
  {%- if execute -%}
    {%- set statements = [] -%}
    {%- for node in graph.nodes.values() if node.config.materialized == 'table' and is_idle(node) -%}
      {%- set columns = [] -%}
      {%- for c in node.columns.values() -%}
        {%- do columns.append(adapter.quote(c.name) ~ ' ' ~ c.data_type) -%}
      {%- endfor -%}
      {%- set relation = adapter.quote(node.schema) ~ '.' ~ adapter.quote(node.name) -%}
      {%- do statements.extend(adapter.dispatch('empty_table', 'seamline')(relation, columns | join(', '))) -%}
    {%- endfor -%}
    {%- if statements -%}
      {{- adapter.dispatch('run_statements', 'seamline')(statements) -}}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}

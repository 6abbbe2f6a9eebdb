{#- dbt-duckdb's `table`, without its detour over a second table that is renamed: DuckDB replaces a table within a
    transaction, so whoever reads sees the old one or the new one, and a build that is killed leaves the old one. -#}
{% materialization table, adapter='duckdb' %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {{ run_hooks(pre_hooks) }}
  {%- if existing is not none and not existing.is_table -%}
    {%- do adapter.drop_relation(existing) -%}
  {%- endif -%}
  {%- call statement('main') -%}
    {%- if existing is not none and existing.is_table -%}
    drop table {{ existing }};
    {%- endif %}
    {{ create_table_as(False, target_relation, compiled_code) }}
  {%- endcall -%}
  {{ run_hooks(post_hooks) }}
  {%- do persist_docs(target_relation, model) -%}
  {{ adapter.commit() }}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

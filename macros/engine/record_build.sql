{#- Whether this command builds every model: a selection of them says nothing about what is stale. -#}
{% macro is_whole_build() %}
  {%- if flags.WHICH not in ('build', 'run') -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.unique_id not in selected_resources and not is_idle(node) -%}
    {%- do return(false) -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}

{#- Keeps when each build began, ended and what came of it, in the warehouse itself, so that `seamline status` also
    knows of builds run by hand. A build that was killed has a row without an end. -#}
{% macro record_build_start() %}
  {%- if execute and is_whole_build() -%}
    {%- do adapter.dispatch('record_build_start', 'seamline')() -%}
  {%- endif -%}
{% endmacro %}

{% macro record_build_end(results) %}
  {%- if execute and is_whole_build() -%}
    {%- set counts = {'success': 0, 'pass': 0, 'warn': 0, 'error': 0, 'fail': 0, 'skipped': 0} -%}
    {%- for result in results -%}
      {%- set status = result.status | string -%}
      {%- do counts.update({status: counts.get(status, 0) + 1}) -%}
    {%- endfor -%}
    {%- do adapter.dispatch('record_build_end', 'seamline')(counts) -%}
  {%- endif -%}
{% endmacro %}

{% macro duckdb__record_build_start() %}
  {%- do run_query('create schema if not exists builds') -%}
  {%- do run_query('create table if not exists builds.builds (invocation_id varchar, started_at timestamp, ended_at timestamp, built_count bigint, pass_count bigint, warn_count bigint, error_count bigint, skipped_count bigint)') -%}
  {%- do run_query("insert into builds.builds (invocation_id, started_at) values ('" ~ invocation_id ~ "', '" ~ run_started_at.strftime('%Y-%m-%d %H:%M:%S.%f') ~ "')") -%}
{% endmacro %}

{% macro duckdb__record_build_end(counts) %}
  {%- do run_query(
    "update builds.builds set ended_at = cast(now() at time zone 'UTC' as timestamp), built_count = " ~ counts['success']
    ~ ', pass_count = ' ~ counts['pass'] ~ ', warn_count = ' ~ counts['warn']
    ~ ', error_count = ' ~ (counts['error'] + counts['fail']) ~ ', skipped_count = ' ~ counts['skipped']
    ~ " where invocation_id = '" ~ invocation_id ~ "'"
  ) -%}
{% endmacro %}

{#- Other engines keep no record: their catalogs have histories of their own. -#}
{% macro default__record_build_start() %}{% endmacro %}

{% macro default__record_build_end(counts) %}{% endmacro %}

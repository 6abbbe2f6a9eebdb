{#- The arm that a line of declared/arm_assignments.csv gives a run, with its braces filled.
    None of run_id, run_name and run_group may be null. -#}
{% macro assigned_arm(arm, run_id, run_name, run_group) -%}
  replace(replace(replace({{ arm }}, '{run_id}', {{ run_id }}), '{run_name}', {{ run_name }}), '{group}', {{ run_group }})
{%- endmacro %}

{#- What dbt writes for one cell of a unit test. Spark's own knows no lists: here they become array literals. -#}
{% macro spark__safe_cast(field, type) -%}
  cast({{ spark_literal(field) }} as {{ type }})
{%- endmacro %}

{#- A YAML value as Spark SQL; strings come quoted from dbt, those inside of lists do not. -#}
{% macro spark_literal(value) -%}
  {%- if value is sequence and value is not string -%}
    array(
    {%- for item in value -%}
      {{ "'" ~ item ~ "'" if item is string else spark_literal(item) }}{{ ', ' if not loop.last }}
    {%- endfor -%}
    )
  {%- elif value is none -%}
    null
  {%- else -%}
    {{ value }}
  {%- endif -%}
{%- endmacro %}

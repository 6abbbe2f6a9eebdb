{#- Hours from one timestamp to another as a double, exact to the microsecond; null where either is null. -#}
{% macro hours_between(earlier, later) -%}
  {{ adapter.dispatch('hours_between', 'seamline')(earlier, later) }}
{%- endmacro %}

{% macro duckdb__hours_between(earlier, later) -%}
  (cast(epoch_us({{ later }}) - epoch_us({{ earlier }}) as double) / 3600000000)
{%- endmacro %}

{% macro spark__hours_between(earlier, later) -%}
  (cast(unix_micros(cast({{ later }} as timestamp)) - unix_micros(cast({{ earlier }} as timestamp)) as double) / 3600000000)
{%- endmacro %}

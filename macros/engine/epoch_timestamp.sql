{#- Seconds since 1970 (a bigint expression) as a timestamp in UTC. -#}
{% macro epoch_timestamp(seconds) -%}
  {{ adapter.dispatch('epoch_timestamp', 'seamline')(seconds) }}
{%- endmacro %}

{% macro duckdb__epoch_timestamp(seconds) -%}
  make_timestamp({{ seconds }} * 1000000)
{%- endmacro %}

{% macro spark__epoch_timestamp(seconds) -%}
  cast(timestamp_seconds({{ seconds }}) as timestamp_ntz)
{%- endmacro %}

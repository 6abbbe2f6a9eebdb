{#- A double, with NaN and infinities made null (both engines sort NaN above infinity). -#}
{% macro finite_or_null(number) -%}
  case when {{ number }} > cast('-Infinity' as double) and {{ number }} < cast('Infinity' as double) then {{ number }} end
{%- endmacro %}

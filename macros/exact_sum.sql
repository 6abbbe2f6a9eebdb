{#- The sum of a double to 12 decimals, the same whatever the order of the rows. Null where no value is known. -#}
{% macro exact_sum(amount) -%}
  cast(sum(cast({{ amount }} as decimal(28, 12))) as double)
{%- endmacro %}

{#- The sum of a double to 12 decimals, the same whatever the order of the rows. Null where no value is known;
    amounts from 1e16 on, which are no amounts, are passed over. -#}
{% macro exact_sum(amount) -%}
  cast(sum(try_cast({{ amount }} as decimal(28, 12))) as double)
{%- endmacro %}

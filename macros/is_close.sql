{#- Whether two doubles are equal to within a fraction of the larger; false where either is null. Neither may be NaN. -#}
{% macro is_close(one, other, fraction) -%}
  coalesce(abs({{ one }} - {{ other }}) <= {{ fraction }} * greatest(abs({{ one }}), abs({{ other }})), false)
{%- endmacro %}

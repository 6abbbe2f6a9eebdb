{#- The last name of a metric: what follows its last `/` or `.`, in lower case; all of it where that is empty. -#}
{% macro last_name(metric) -%}
  lower(coalesce(nullif(regexp_extract({{ metric }}, '[^/.]+$', 0), ''), {{ metric }}))
{%- endmacro %}

{#- The same of a config key, whose path is joined with dots alone. -#}
{% macro last_config_name(config_key) -%}
  lower(coalesce(nullif(regexp_extract({{ config_key }}, '[^.]+$', 0), ''), {{ config_key }}))
{%- endmacro %}

{#- Fails when two rows share the grain, or a grain column is null. Returns the key and how many rows have it. -#}
{% test unique_grain(model, columns) %}
select
    {{ columns | join(', ') }},
    count(*) as row_count
from {{ model }}
group by {{ columns | join(', ') }}
having
    count(*) > 1
    {%- for column in columns %}
    or {{ column }} is null
    {%- endfor %}
{% endtest %}

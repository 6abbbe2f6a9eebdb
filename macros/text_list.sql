{#- A list of texts as what stands in `in (...)`. -#}
{% macro text_list(texts) -%}
  {%- for text in texts %}'{{ text | replace("'", "''") }}'{{ ', ' if not loop.last }}{% endfor -%}
{%- endmacro %}

{#- A list of texts as the rows of `values`, each with its number from 1. -#}
{% macro numbered_texts(texts) -%}
  {%- for text in texts %}('{{ text | replace("'", "''") }}', {{ loop.index }}){{ ', ' if not loop.last }}{% endfor -%}
{%- endmacro %}

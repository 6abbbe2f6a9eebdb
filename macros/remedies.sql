{#- What a finding offers as `remedy`: one or several lines of `declared/<file>.csv: <line>`, to be put into that file (in
    place of the line of the same key, where it has one), or the page that says what to do. -#}

{#- A line of a declared file, as SQL, with every column of it. `cells` are SQL expressions by column; a column left
    out is empty. -#}
{% macro declared_line(file, cells) -%}
  'declared/{{ file }}.csv: '
  {%- for column in declared_columns(file).split(',') %} || {{ csv_cell(cells[column]) if column in cells else "''" }}{{ " || ','" if not loop.last }}{% endfor -%}
{%- endmacro %}

{#- The line of declared/arms.csv of an arm with some cells changed. `arms` names its row of arms.csv, all null where it has none. -#}
{% macro arms_line(arm, arms, changes) -%}
  {%- set cells = {'arm': arm} -%}
  {%- for column in declared_columns('arms').split(',') if column != 'arm' -%}
    {%- do cells.update({column: changes.get(column, arms ~ '.' ~ column)}) -%}
  {%- endfor -%}
  {{ declared_line('arms', cells) }}
{%- endmacro %}

{#- The columns of a declared file in the order of its template, joined by commas: from the YAML that the readers take
    them from too. Empty while dbt parses, when it knows no sources. -#}
{% macro declared_columns(file) -%}
  {%- for source in (graph.sources or {}).values() if source.source_name == 'declared' and source.name == file -%}
    {{ source.columns | join(',') }}
  {%- endfor -%}
{%- endmacro %}

{#- A value as a cell of a CSV file; null is empty. -#}
{% macro csv_cell(value) -%}
  case
    when regexp_replace(cast({{ value }} as string), '[,"\n\r]', '') <> cast({{ value }} as string)
      then '"' || replace(cast({{ value }} as string), '"', '""') || '"'
    else coalesce(cast({{ value }} as string), '')
  end
{%- endmacro %}

{#- The part of docs/findings.md about a kind of finding; without one, about the kind that the row's column says. -#}
{% macro findings_page(kind=none) -%}
  {{ "'docs/findings.md#" ~ kind ~ "'" if kind else "'docs/findings.md#' || kind" }}
{%- endmacro %}

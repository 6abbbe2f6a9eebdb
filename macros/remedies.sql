{#- What a finding offers as `remedy`: one or several lines of `declared/<file>.csv: <line>`, to be put into that file (in
    place of the line of the same key, where it has one), or the page that says what to do. -#}

{#- A line of a declared file, as SQL. `cells` are SQL expressions by column; a column left out is empty. -#}
{% macro declared_line(file, cells) -%}
  {%- set columns = {
      'arms': ['arm', 'expected_step_count', 'expected_rollouts_per_step', 'is_running', 'position_key', 'headline_metric', 'leaf_run_id', 'note'],
      'arm_assignments': ['run_id', 'run_pattern', 'name_pattern', 'group_pattern', 'arm', 'reason']
  }[file] -%}
  'declared/{{ file }}.csv: '
  {%- for column in columns %} || {{ csv_cell(cells[column]) if column in cells else "''" }}{{ " || ','" if not loop.last }}{% endfor -%}
{%- endmacro %}

{#- The line of declared/arms.csv of an arm with some cells changed. `arms` names its row of arms.csv, all null where it has none. -#}
{% macro arms_line(arm, arms, changes) -%}
  {%- set cells = {'arm': arm} -%}
  {%- for column in ['expected_step_count', 'expected_rollouts_per_step', 'is_running', 'position_key', 'headline_metric', 'leaf_run_id', 'note'] -%}
    {%- do cells.update({column: changes.get(column, arms ~ '.' ~ column)}) -%}
  {%- endfor -%}
  {{ declared_line('arms', cells) }}
{%- endmacro %}

{#- A value as a cell of a CSV file; null is empty. -#}
{% macro csv_cell(value) -%}
  case
    when regexp_replace(cast({{ value }} as string), '[,"\n\r]', '') <> cast({{ value }} as string)
      then '"' || replace(cast({{ value }} as string), '"', '""') || '"'
    else coalesce(cast({{ value }} as string), '')
  end
{%- endmacro %}

{#- The part of docs/findings.md about a kind of finding. -#}
{% macro findings_page(kind) -%}
  'docs/findings.md#{{ kind }}'
{%- endmacro %}

{#- The CTEs `lineages` (each segment's root and its lineage_step_count) and `chosen` (the segments of each chosen lineage), from a
    CTE `related` of (arm, segment_number, parent_segment_number). `with recursive` stands before them.

    The lineage that ends in a declared leaf is chosen, else the one that ends in the latest segment, or in the one with
    the most logged steps behind it (the var lineage_choice). `step_count` is a column of `related`; `is_declared_leaf`
    an expression over `related` and its row `declared` of the declared arms, null where none is declared; one lineage
    is chosen in each `scope`, columns of `related`. -#}
{% macro chosen_lineage(step_count, declared_arms, is_declared_leaf, scope='related.arm') -%}
lineages as (
    select
        arm,
        segment_number,
        segment_number as root_segment_number,
        {{ step_count }} as lineage_step_count
    from related
    where parent_segment_number is null
    union all
    select
        related.arm,
        related.segment_number,
        lineages.root_segment_number,
        lineages.lineage_step_count + related.{{ step_count }}
    from related
    inner join lineages on related.arm = lineages.arm and related.parent_segment_number = lineages.segment_number
),

ends as (
    select
        related.arm,
        related.segment_number,
        row_number() over (
            partition by {{ scope }}
            order by
                case when {{ is_declared_leaf }} then 0 else 1 end asc,
                {%- if var('lineage_choice') == 'furthest' %}
                {#- a declared run can have several segments: the latest of them is its end #}
                case when {{ is_declared_leaf }} then 0 else lineages.lineage_step_count end desc,
                {%- endif %}
                related.segment_number desc
        ) as preference
    from related
    inner join lineages on related.arm = lineages.arm and related.segment_number = lineages.segment_number
    left join {{ declared_arms }} as declared on related.arm = declared.arm
),

chosen as (
    select
        arm,
        segment_number
    from ends
    where preference = 1
    union all
    select
        related.arm,
        related.parent_segment_number
    from related
    inner join chosen on related.arm = chosen.arm and related.segment_number = chosen.segment_number
    where related.parent_segment_number is not null
)
{%- endmacro %}

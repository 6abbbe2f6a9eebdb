-- Grain: one row per (arm, segment_number).
-- Decides an arm's tracks: segments that share a metric, or are linked by others that do. Two that share none can't be
-- redoing each other.
-- A segment with several hubs links them; the links are walked one by one, and each gives all that has the higher label
-- of its two hubs the lower one.
{%- set lower_label = "cast(regexp_extract(walks.labels, '<' || links.lower_hub || '=([0-9]+)>', 1) as bigint)" %}
{%- set higher_label = "cast(regexp_extract(walks.labels, '<' || links.higher_hub || '=([0-9]+)>', 1) as bigint)" %}
with recursive

segment_hubs as (select * from {{ ref('segment_hubs') }}),

first_hubs as (
    select
        arm,
        segment_number,
        min(hub) as hub
    from segment_hubs
    group by arm, segment_number
),

pairs as (
    select distinct
        segment_hubs.arm,
        first_hubs.hub as lower_hub,
        segment_hubs.hub as higher_hub
    from segment_hubs
    inner join first_hubs
        on segment_hubs.arm = first_hubs.arm and segment_hubs.segment_number = first_hubs.segment_number
    where segment_hubs.hub > first_hubs.hub
),

links as (
    select
        *,
        cast(row_number() over (partition by arm order by lower_hub, higher_hub) as bigint) as link_number
    from pairs
),

linked_hubs as (
    select
        arm,
        lower_hub as hub
    from links
    union
    select
        arm,
        higher_hub
    from links
),

-- `<7=3>`: the hub 7 has the label 3
walks as (
    select
        arm,
        cast(0 as bigint) as link_number,
        {{ joined_text("'<' || hub || '=' || hub || '>'", '', 'hub') }} as labels
    from linked_hubs
    group by arm
    union all
    select
        links.arm,
        links.link_number,
        replace(
            walks.labels,
            '=' || greatest({{ lower_label }}, {{ higher_label }}) || '>',
            '=' || least({{ lower_label }}, {{ higher_label }}) || '>'
        )
    from walks
    inner join links on walks.arm = links.arm and walks.link_number + 1 = links.link_number
),

walked as (
    select
        arm,
        max_by(labels, link_number) as labels
    from walks
    group by arm
),

labelled as (
    select
        first_hubs.arm,
        first_hubs.segment_number,
        coalesce(
            try_cast(regexp_extract(walked.labels, '<' || first_hubs.hub || '=([0-9]+)>', 1) as bigint), first_hubs.hub
        ) as label
    from first_hubs
    left join walked on first_hubs.arm = walked.arm
),

final as (
    select
        arm,
        segment_number,
        cast(dense_rank() over (partition by arm order by label) as bigint) as track_number
    from labelled
)

select * from final

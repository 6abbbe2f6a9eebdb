{#- Whether a line of declared/spare_repos.csv means the checkpoint of a place: by the id it states, that id's end, or
    its Hub repo. Both are names of relations. -#}
{% macro is_spare_of(places, spares) -%}
  (
    {{ matches_glob(places ~ '.stated_model_id', spares ~ '.repo') }}
    or {{ matches_glob(places ~ '.stated_model_id', "'*/' || " ~ spares ~ '.repo') }}
    or {{ matches_glob(places ~ '.repo', spares ~ '.repo') }}
  )
{%- endmacro %}

{#- Whether a line of declared/arm_repos.csv means the checkpoint of a place: a Hub repo, or a bare folder by its path or
    its last name. Both are names of relations. -#}
{% macro is_arm_repo_of(places, arm_repos) -%}
  (
    {{ arm_repos }}.repo = coalesce({{ places }}.repo, {{ places }}.stated_model_id)
    or (
      {{ places }}.source_kind = 'folder'
      and {{ arm_repos }}.repo = {{ name_after_slash(places ~ '.stated_model_id') }}
    )
  )
{%- endmacro %}

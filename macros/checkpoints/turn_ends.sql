{#- The text of an end-of-turn token by its id, where an id is of well-known tokenizers alone: rows (end_of_turn_id,
    end_of_turn_token). Source: the added tokens in the publishers' own tokenizer_config.json. -#}
{% macro known_turn_ends() -%}
  {%- set tokens = {
    151645: '<|im_end|>',
    248046: '<|im_end|>',
    128009: '<|eot_id|>',
    100265: '<|im_end|>',
    32007: '<|end|>',
  } -%}
  {#- Qwen 2 to 3; Qwen 3.5; Llama 3; Phi-4; Phi-3 -#}
  {%- for id, text in tokens.items() %}
    select
        {{ id }} as end_of_turn_id,
        '{{ text }}' as end_of_turn_token
    {%- if not loop.last %}
    union all
    {%- endif %}
  {%- endfor %}
{%- endmacro %}

{#- How each provider defines its usage object, one entry a form; the first whose `known_by` holds is a call's form.
    `input` is all input, `cached` and the two kinds of `cache_write` are parts of it; `output` is all output, `reasoning`
    is a part of it. Null is not stated. `contradiction` holds where parts that must add up do not. A sum has a decimal
    first, so that absurd counts do not overflow. Columns are those of `teacher_call_records`.

    OpenAI's form is also that of vLLM (docs.vllm.ai), Mistral (docs.mistral.ai/api), OpenRouter
    (openrouter.ai/docs/use-cases/usage-accounting) and litellm (docs.litellm.ai/docs/completion/prompt_caching), which
    counts an Anthropic cache's reads and writes into the prompt. xAI (docs.x.ai/docs/guides/reasoning) and Gemini's
    OpenAI-compatible endpoint (ai.google.dev/gemini-api/docs/openai) leave thinking out of its completion:
    stg_teacher__calls tells them by the total. -#}
{% macro usage_forms() %}
  {%- do return([
    {
      'form': 'gemini',
      'source': 'https://googleapis.github.io/js-genai/release_docs/classes/types.GenerateContentResponseUsageMetadata.html',
      'known_by': 'coalesce(prompt_token_count, candidates_token_count, thoughts_token_count) is not null',
      'input': 'cast(prompt_token_count as decimal(20, 0)) + coalesce(tool_use_prompt_token_count, 0)',
      'cached': 'cached_content_token_count',
      'cache_write': 'null',
      'cache_write_1h': 'null',
      'output': 'coalesce(cast(candidates_token_count as decimal(20, 0)) + coalesce(thoughts_token_count, 0),'
        ~ ' thoughts_token_count)',
      'reasoning': 'thoughts_token_count',
      'contradiction': 'false',
    },
    {
      'form': 'anthropic',
      'source': 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching',
      'known_by': 'prompt_tokens is null and input_cached_tokens is null'
        ~ ' and coalesce(cache_read_input_tokens, cache_creation_input_tokens, cache_creation_5m_tokens) is not null',
      'input': 'cast(input_tokens as decimal(20, 0)) + coalesce(cache_read_input_tokens, 0)'
        ~ ' + coalesce(cache_creation_input_tokens, cache_creation_5m_tokens + cache_creation_1h_tokens, 0)',
      'cached': 'cache_read_input_tokens',
      'cache_write': 'coalesce(cache_creation_input_tokens - cache_creation_1h_tokens, cache_creation_5m_tokens,'
        ~ ' cache_creation_input_tokens)',
      'cache_write_1h': 'cache_creation_1h_tokens',
      'output': 'output_tokens',
      'reasoning': 'output_reasoning_tokens',
      'contradiction': 'cache_creation_5m_tokens + cache_creation_1h_tokens <> cache_creation_input_tokens',
    },
    {
      'form': 'deepseek',
      'source': 'https://api-docs.deepseek.com/api/create-chat-completion',
      'known_by': 'prompt_cache_hit_tokens is not null',
      'input': 'coalesce(prompt_tokens, prompt_cache_hit_tokens + prompt_cache_miss_tokens)',
      'cached': 'prompt_cache_hit_tokens',
      'cache_write': 'null',
      'cache_write_1h': 'null',
      'output': 'completion_tokens',
      'reasoning': 'completion_reasoning_tokens',
      'contradiction': 'prompt_cache_hit_tokens + prompt_cache_miss_tokens <> prompt_tokens',
    },
    {
      'form': 'openai',
      'source': 'https://platform.openai.com/docs/api-reference/chat/object',
      'known_by': 'coalesce(input_tokens, prompt_tokens, output_tokens, completion_tokens, total_tokens) is not null',
      'input': 'coalesce(input_tokens, prompt_tokens)',
      'cached': 'coalesce(input_cached_tokens, prompt_cached_tokens, cache_read_input_tokens)',
      'cache_write': 'coalesce(input_cache_write_tokens, prompt_cache_write_tokens, cache_creation_input_tokens)'
        ~ ' - coalesce(cache_creation_1h_tokens, 0)',
      'cache_write_1h': 'cache_creation_1h_tokens',
      'output': 'coalesce(output_tokens, completion_tokens)',
      'reasoning': 'coalesce(output_reasoning_tokens, completion_reasoning_tokens)',
      'contradiction': 'cache_creation_5m_tokens + cache_creation_1h_tokens <> cache_creation_input_tokens',
    },
  ]) -%}
{% endmacro %}

{#- The name of the form of a row's usage; null where it states no count of a known form. -#}
{% macro usage_form() -%}
  case
    {%- for form in usage_forms() %} when {{ form.known_by }} then '{{ form.form }}'{% endfor %} end
{%- endmacro %}

{#- A part of usage by the definition of a row's `usage_form`. -#}
{% macro usage_part(part) -%}
  case usage_form
    {%- for form in usage_forms() %} when '{{ form.form }}' then {{ form[part] }}{% endfor %} end
{%- endmacro %}

{#- The columns of declared/model_prices.csv that are prices. -#}
{% macro token_prices() %}
  {%- do return([
    'input_usd_per_million', 'cached_input_usd_per_million', 'output_usd_per_million',
    'cache_write_usd_per_million', 'cache_write_1h_usd_per_million', 'reasoning_usd_per_million',
  ]) -%}
{% endmacro %}

{#- What some tokens cost in millionths of a USD: nothing where there are none, unknown where their price is. -#}
{% macro tokens_price(tokens, price) -%}
  case when coalesce({{ tokens }}, 0) = 0 then 0 else {{ tokens }} * {{ price }} end
{%- endmacro %}

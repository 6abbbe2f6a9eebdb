"""End-of-turn ids, worked out by hand: which file tells them, and which are right."""

from tests.python.support.checkpoints.rows import BAD, KINDS, OK


def test_ids_come_from_generation_config_else_config_else_text_config_and_never_past_a_broken_file(models, rows):
    def planted(name, generation=None, config=None, text=None, is_broken=False, is_config_broken=False):
        rows.checkpoint(f"a/{name}", eos=None)
        key = {"source_name": "kimi", "folder_idx": rows.tables["checkpoint_folders"][-1]["folder_idx"]}
        row = rows.tables["checkpoint_configs"][-1]
        row |= {"eos_token_ids": config, "text_eos_token_ids": text, "is_readable": not is_config_broken}
        if generation is not None or is_broken:
            rows.config(key, "generation_config.json", is_readable=not is_broken, eos_token_ids=generation)

    planted("1", generation=OK, config=BAD, text=BAD)
    planted("2", generation=BAD, config=OK, text=OK)
    planted("3", config=OK, text=BAD)
    planted("4", text=OK)
    planted("5")
    planted("6", config=OK, is_broken=True)
    planted("7", text=OK, is_config_broken=True)
    planted("8", generation=[])
    models.run(rows.tables)
    packaged = "select step, eos_source, eos_token_ids, eos_ok from checkpoints order by 1"
    assert models.rows(packaged) == [
        (1, "generation_config", OK, True),
        (2, "generation_config", BAD, False),
        (3, "config", OK, True),
        (4, "text_config", OK, True),
        (5, None, None, None),
        (6, None, None, None),
        (7, None, None, None),
        (8, "generation_config", [], False),
    ]
    assert models.rows("select eos_ok_count, eos_known_count, checkpoint_count from cells") == [(3, 5, 8)]
    assert [row for row in models.rows(KINDS) if "family" not in row[0]] == [
        ("badly_packaged_cell", "kimi"),
        ("broken_config", "org/kimi.hNA.a.6"),
        ("broken_config", "org/kimi.hNA.a.7"),
    ]


def test_a_generation_config_without_ids_stops_transformers_nowhere(models, rows):
    # transformers reads config.json where there is no generation_config.json, and only there.
    key = rows.model("one", eos=OK)
    rows.config(key, "generation_config.json")
    models.run(rows.tables)
    assert models.rows("select eos_source, eos_ok, eos_ok_transformers, eos_ok_vllm from checkpoints") == [
        (None, False, False, None)
    ]  # fmt: skip
    [(note,)] = models.rows("select eos_note from checkpoints")
    assert note.startswith("transformers stops nowhere: generation_config.json names no eos_token_id")


SERVERS = "select model_id, eos_ok_transformers, eos_ok_vllm, eos_ok from checkpoints order by 1"


def test_each_server_stops_where_it_looks(models, rows):
    """vLLM takes the tokenizer's eos_token besides; its id stands in the tokenizer's files, or its text is known."""

    def planted(name, generation=None, **tokenizer):
        key = rows.model(name, eos=BAD)
        if generation is not None:
            rows.config(key, "generation_config.json", eos_token_ids=generation)
        if tokenizer:
            rows.config(key, "tokenizer_config.json", **tokenizer)

    planted("a", OK, eos_token="<|endoftext|>", eos_token_ids=[248044])
    planted("b", BAD, eos_token="<|im_end|>", eos_token_ids=[248046])
    planted("c", BAD, eos_token="<|im_end|>")
    planted("d", BAD, eos_token="<|endoftext|>")
    planted("e", BAD)
    planted("f", None, eos_token="<|im_end|>")
    planted("g", BAD, eos_token="<|im_end|>", is_readable=False)
    models.run(rows.tables)
    assert models.rows(SERVERS) == [
        ("a", True, True, True),
        ("b", False, True, False),
        ("c", False, True, False),
        ("d", False, False, False),
        ("e", False, None, False),
        ("f", False, True, False),
        ("g", False, None, False),
    ]
    notes = dict(models.rows("select model_id, eos_note from checkpoints"))
    assert notes["a"] is None
    assert notes["b"] == (
        "transformers does not stop: generation_config lacks 248046; vLLM does, at the tokenizer's eos_token <|im_end|>"
    )
    assert "neither does vLLM" in notes["d"] and "whether vLLM does is unknown" in notes["e"]
    assert [row for row in models.rows(KINDS) if row[0] == "eos_depends_on_server"] == [
        ("eos_depends_on_server", name) for name in "bcf"
    ]


def test_a_declared_text_of_the_end_of_turn_tells_a_tokenizer_s_apart(models, rows):
    rows.add("tokenizers", model_pattern="odd", end_of_turn_id=5, end_of_turn_token="<end>")
    rows.add("tokenizers", model_pattern="odder", end_of_turn_id=5)
    for name, model_type, token in [("a", "odd", "<end>"), ("b", "odd", "<eos>"), ("c", "odder", "<end>")]:
        key = rows.model(name)
        rows.config(key, "config.json", model_type=model_type, eos_token_ids=[1])
        rows.config(key, "tokenizer_config.json", eos_token=token)
    models.run(rows.tables)
    assert models.rows(SERVERS) == [
        ("a", False, True, False), ("b", False, False, False), ("c", False, None, False)
    ]  # fmt: skip


def test_an_adapter_stops_where_its_base_does(models, rows):
    def adapter(name, base, **tokenizer):
        key = rows.model(name)
        rows.config(key, "adapter_config.json", base_model_name=base, adapter_type="LORA")
        if tokenizer:
            rows.config(key, "tokenizer_config.json", **tokenizer)

    rows.add("tokenizers", model_pattern="Qwen/*", end_of_turn_id=248046)
    adapter("a", "Qwen/Base")
    adapter("b", "Qwen/Absent")
    adapter("c", "Qwen/Twice")
    adapter("d", "Qwen/Bad", eos_token="<|im_end|>")
    adapter("e", None)
    rows.model("bases/Base", eos=OK)
    rows.model("bases/Bad", eos=BAD)
    rows.model("one/Twice", eos=OK)
    rows.model("two/Twice", eos=OK)
    models.run(rows.tables)
    adapters = "select model_id, eos_ok_transformers, eos_ok_vllm, eos_ok, is_adapter, base_model_name from checkpoints"
    assert models.rows(f"{adapters} where is_adapter order by 1") == [
        ("a", True, True, True, True, "Qwen/Base"),
        ("b", None, None, None, True, "Qwen/Absent"),
        ("c", None, None, None, True, "Qwen/Twice"),
        ("d", False, True, False, True, "Qwen/Bad"),
        ("e", None, None, None, True, None),
    ]
    assert [row for row in models.rows(KINDS) if row[0] != "cell_without_submission"] == [
        ("adapter_without_base", "b"),
        ("adapter_without_base", "c"),
        ("adapter_without_base", "e"),
        ("eos_depends_on_server", "d"),
    ]


def test_what_a_server_needs_comes_from_the_files(models, rows):
    seeing = rows.model("seeing")
    rows.config(
        seeing, "config.json", architecture="SeesForCausalLM", dtype="bfloat16", max_position_count=8,
        has_vision_config=True, model_type="x",
    )  # fmt: skip
    rows.config(seeing, "tokenizer_config.json", has_chat_template=True)
    rows.files(seeing, "config.json", "model.safetensors")
    rows.tensors(seeing, **{"model.visual.blocks.0": "a", "model.language_model.x": "b"})
    blind = rows.model("seeing-without-tower")
    rows.config(blind, "config.json", has_vision_config=True, model_type="x")
    rows.files(blind, "preprocessor_config.json", "chat_template.jinja", "pytorch_model.bin")
    text = rows.model("text")
    rows.config(text, "config.json", has_vision_config=False, model_type="x")
    rows.config(text, "tokenizer_config.json", has_chat_template=False)
    rows.files(text, "model.safetensors")
    rows.tensors(text, lm_head="a")
    rows.model("unknown")
    rows.config(rows.model("v-adapter"), "adapter_config.json", base_model_name="Lab/seeing")
    models.run(rows.tables)
    needs = "architecture, dtype, max_position_count, has_vision_tower, lacks_preprocessor, chat_template_source"
    assert models.rows(f"select model_id, {needs} from checkpoints order by 1") == [
        ("seeing", "SeesForCausalLM", "bfloat16", 8, True, True, "tokenizer_config.json"),
        ("seeing-without-tower", None, None, None, None, False, "chat_template.jinja"),
        ("text", None, None, None, False, False, "none"),
        ("unknown", None, None, None, None, None, None),
        ("v-adapter", "SeesForCausalLM", "bfloat16", 8, True, True, "tokenizer_config.json"),
    ]


def test_a_submission_that_is_its_base_is_a_finding(models, rows):
    rows.baseline(10.0)
    rows.tensors(rows.model("base"), a="1", b="2", c="3")
    same = {"a": "1", "b": "2"}
    for number, digests in enumerate([same, {"a": "1", "b": "9"}, {"a": "1", "new": "2"}, {"x": "1"}], 1):
        cell = f"cell-{number}"
        rows.add("cells", cell=cell)
        rows.cell(cell, submitted="a/1")
        rows.tensors(rows.checkpoint("a/1", cell=cell, hours=[1.0]), **digests)
    # An intermediate one that is the base; a submission one file of which can't be read.
    rows.tensors(rows.checkpoint("a/2", cell="cell-2", hours=[2.0]), is_sampled=True, **same)
    rows.add("cells", cell="cell-5")
    rows.cell("cell-5", submitted="a/1")
    partial = rows.checkpoint("a/1", cell="cell-5", hours=[1.0])
    rows.tensors(partial, **same)
    rows.files(partial, "other.safetensors", problem="cut short")
    models.run(rows.tables)
    matches = (
        "select checkpoint_key, equals_baseline, baseline_model_id from checkpoints where cell <> 'kimi' order by 1"
    )
    assert models.rows(matches) == [
        ("cell-1/a/1", True, "base"),
        ("cell-2/a/1", False, "base"),
        ("cell-2/a/2", True, "base"),
        ("cell-3/a/1", False, "base"),
        ("cell-4/a/1", None, None),
        ("cell-5/a/1", None, "base"),
    ]
    found = [row for row in models.rows(KINDS) if row[0] in ("submission_is_baseline", "weights_unreadable")]
    assert found == [
        ("submission_is_baseline", "org/cell-1.h001.a.1"), ("weights_unreadable", "org/cell-5.h001.a.1")
    ]  # fmt: skip


def test_the_end_of_turn_is_that_of_the_named_model_else_of_its_type_by_the_longest_pattern(models, rows):
    rows.add("tokenizers", model_pattern="Qwen/*", end_of_turn_id=1)
    rows.add("tokenizers", model_pattern="Qwen/Qwen3*", end_of_turn_id=2)
    rows.add("tokenizers", model_pattern="*", end_of_turn_id=None)
    for model_id, name, model_type in [
        ("a", "Qwen/Qwen3-8B", "qwen3_5"),
        ("b", "Qwen/Other", "qwen3_5"),
        ("c", "/local/path", "qwen3_5_text"),
        ("d", None, "qwen3_5"),
        ("e", "/local/path", "llama"),
        ("f", None, None),
    ]:
        key = rows.model(model_id)
        rows.config(key, "config.json", model_name=name, model_type=model_type, eos_token_ids=[2, 248046])
    rows.model("g")
    # No ids at all, and no end of turn known: unknown, though no id is among none.
    rows.config(rows.model("h"), "config.json", model_type="llama", eos_token_ids=[])
    models.run(rows.tables)
    assert models.rows("select model_id, eos_ok from checkpoints order by 1") == [
        ("a", True), ("b", False), ("c", True), ("d", True), ("e", None), ("f", None), ("g", None),
        ("h", None),
    ]  # fmt: skip
    assert models.rows(KINDS) == [
        ("cell_without_submission", "kimi"),
        ("checkpoint_without_config", "g"),
        ("tokenizer_not_declared", "llama"),
    ]

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


def test_a_generation_config_without_ids_leaves_the_word_to_config(models, rows):
    key = rows.model("one", eos=OK)
    rows.config(key, "generation_config.json")
    models.run(rows.tables)
    assert models.rows("select eos_source, eos_ok from checkpoints") == [("config", True)]


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

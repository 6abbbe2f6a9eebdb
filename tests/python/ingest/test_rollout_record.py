"""One line of a shard: the fast parser gives what Python's json gives, and both what a walk over the tokens gives."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats.lines import Line
from ingest.open_instruct.record import SCALARS, Evidence, RecordReader, Unreadable
from tests.python.support.planted_rollouts import CLOSE, END, OPEN, record

SPECIAL = [END, OPEN, CLOSE]
READER = RecordReader(SPECIAL, keep_tokens=True)


def line(text: str | bytes) -> Line:
    data = bytearray(text.encode() if isinstance(text, str) else text)
    return Line(1, data, 0, len(data))


def told(found: Evidence) -> tuple:
    """The evidence as plain values; NaN as text, so that it equals itself."""
    lists = (found.zero_run_starts, found.zero_run_tokens, found.special_positions, found.special_ids)
    kept = [None if part is None else [repr(v) for v in _plain(part)] for part in found.kept]
    counts = (found.prompt_tokens, found.response_tokens, found.logprob_count, found.nan_logprob_count)
    return tuple(map(repr, found.scalars)), counts, [part.tolist() for part in lists], kept


def _plain(part) -> list:
    return part if isinstance(part, list) else part.tolist()


def scalars(found: Evidence) -> dict[str, object]:
    return dict(zip(SCALARS, found.scalars, strict=True))


def fast(text: str | bytes) -> Evidence | None:
    return READER._fast(line(text))


logprob_values = st.one_of(st.just(0.0), st.just(-0.0), st.just(0), st.floats(-3, 0, width=32), st.integers(-2, 1))
tokens_and_logprobs = st.lists(
    st.tuples(st.sampled_from([0, 7, END, OPEN, CLOSE, END + 1, -5, 2**62]), logprob_values, st.integers(1, 9)),
    max_size=12,
)


@given(tokens_and_logprobs, st.booleans())
def test_evidence_equals_a_walk_over_every_token(drawn: list, is_fast: bool) -> None:
    tokens = [token for token, _, times in drawn for _ in range(times)]
    logprobs = [value for _, value, times in drawn for _ in range(times)]
    text = json.dumps(record(3, 4, tokens, logprobs))
    found = fast(text) if is_fast else READER._tolerant(text.encode())
    runs, length = [], 0
    for place, value in enumerate([*logprobs, -1]):
        if value == 0:
            length += 1
        else:
            runs += [(place - length, length)] if length >= 4 else []
            length = 0
    assert list(zip(found.zero_run_starts.tolist(), found.zero_run_tokens.tolist(), strict=True)) == runs
    special = [(place, token) for place, token in enumerate(tokens) if token in SPECIAL]
    assert list(zip(found.special_positions.tolist(), found.special_ids.tolist(), strict=True)) == special
    assert (found.prompt_tokens, found.response_tokens, found.logprob_count) == (2, len(tokens), len(logprobs))
    assert found.was_tolerated is not is_fast


BASE = json.dumps(
    record(1, 2, [7, OPEN, 9, *[5] * 6, CLOSE], [-0.25, -1.5e-3, 0, 0, 0, 0, -0.0, 0.0, -2, -3.5])
    | {"ground_truth": 'a "quoted" [text], "logprobs": [1]', "dataset": ["a", "b"]}
).encode()


@settings(max_examples=1500)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(BASE)),
            st.integers(0, 3),
            st.sampled_from(
                [b"", b" ", b"[", b"]", b"0", b",", b'"', b".", b"-", b"1e5", b"[1]", b"null", b"\n", b"\xff", b"{}"]
            ),
        ),
        min_size=1,
        max_size=2,
    )
)
def test_what_the_fast_parser_reads_of_a_damaged_line_is_what_json_reads(edits: list[tuple[int, int, bytes]]) -> None:
    damaged = BASE
    for place, removed, inserted in edits:
        damaged = damaged[:place] + inserted + damaged[place + removed :]
    found = fast(damaged)
    if found is not None:
        assert told(found) == told(READER._tolerant(damaged))


def test_a_plain_record_needs_no_tolerance() -> None:
    assert not READER.read(line(BASE)).was_tolerated
    assert not READER.read(line(b"  " + BASE + b"\r")).was_tolerated


@pytest.mark.parametrize(
    "change",
    [
        lambda r: dict(reversed(r.items())),
        lambda r: {"logprobs": r["logprobs"]} | r,
        lambda r: r | {"later": [1, [2]]},
        lambda r: r | {"request_info": {"num_calls": 1, "rollout_state": {"info": {}, "logprobs": [[0, 0, 0, 0]]}}},
    ],
    ids=["reversed", "logprobs first", "more keys", "nested namesake"],
)
def test_another_layout_gives_the_same_evidence(change) -> None:
    text = json.dumps(change(json.loads(BASE)), indent=1)
    assert told(READER.read(line(text))) == told(READER._tolerant(text.encode()))
    assert READER.read(line(text)).zero_run_starts.tolist() == [2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"reward": 1.0', {"reward": "nan"}),
        ('"reward": 1.0', {"reward": "-inf"}),
        ('"ground_truth": "x"', {"ground_truth": "surrogate"}),
        ('"ground_truth": "x"', {"ground_truth": "huge"}),
    ],
)
def test_what_json_reads_is_a_record(text: str, expected: dict) -> None:
    spelled = {"nan": "NaN", "-inf": "-1e999", "surrogate": '"\\ud83d"', "huge": "1" + "0" * 60}
    key, name = next(iter(expected.items()))
    whole = json.dumps(record(0, 0)).replace(text, f'"{key}": {spelled[name]}')
    found = READER.read(line(whole))
    assert found.was_tolerated
    if key == "reward":
        assert repr(scalars(found)["reward"]) == name


def test_values_that_fit_no_column_are_unknown_or_infinite() -> None:
    text = json.dumps(record(0, 0, reward="HUGE", prompt_idx="HUGE", finish_reason="FIRST", dataset=None))
    text = text.replace('"HUGE"', "1" + "0" * 400).replace('"FIRST"', '"\\udc00 end"')
    found = scalars(READER.read(line(text)))
    assert found["reward"] == math.inf
    assert found["prompt_idx"] is None
    assert found["finish_reason"] == "\\udc00 end"
    assert found["dataset"] is None


def test_a_token_beyond_64_bits_keeps_its_place() -> None:
    text = json.dumps(record(0, 0, [1, 2, OPEN])).replace("[1, 2,", f"[1, {2**70},")
    found = READER.read(line(text))
    assert found.special_positions.tolist() == [2]
    assert found.kept[1] == [1, None, OPEN]


def test_of_repeated_keys_the_last_counts() -> None:
    text = json.dumps(record(0, 0, [1] * 5, [-1.0] * 5, calls=1))
    text = text.replace('"num_calls": 1', '"num_calls": 1, "num_calls": 2')
    assert scalars(READER.read(line(text)))["call_count"] == 2
    doubled = text[:-1] + ', "logprobs": [0, 0, 0, 0, 0]}'
    assert READER.read(line(doubled)).zero_run_tokens.tolist() == [5]


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        "text",
        [None, -1.0, -1.0],
        ["-1", "-1", "-1"],
        [[-1.0, -1.0], [-1.0]],
        [[], [-1.0], [-1.0]],
        [True, False, True],
        {},
    ],
)
def test_logprobs_that_are_no_list_of_numbers_are_unknown(logprobs: object) -> None:
    found = READER.read(line(json.dumps(record(0, 0) | {"logprobs": logprobs})))
    assert (found.response_tokens, found.logprob_count, found.nan_logprob_count) == (3, None, None)
    assert found.kept[2] is None


def test_a_column_of_one_value_a_token_is_read_as_a_list() -> None:
    fields = record(0, 0, [7, 7, OPEN, 7, 7], [-1.0, 0.0, 0.0, 0.0, 0.0])
    columns = {key: [[value] for value in fields[key]] for key in ("prompt_tokens", "response_tokens", "logprobs")}
    columns["logprobs"] = [[[-1.0]], 0.0, [0.0], 0.0, 0.0]
    text = json.dumps(fields | columns)
    for found in (fast(text), READER._tolerant(text.encode())):
        assert (found.prompt_tokens, found.response_tokens, found.logprob_count) == (2, 5, 5)
        assert (found.special_positions.tolist(), found.zero_run_starts.tolist()) == ([2], [1])


def test_nan_logprobs_are_counted_and_are_not_zero() -> None:
    found = READER.read(line(json.dumps(record(0, 0, [1] * 6, [0.0, 0.0, math.nan, 0.0, 0.0, 0.0]))))
    assert (found.logprob_count, found.nan_logprob_count, found.zero_run_starts.tolist()) == (6, 1, [])


def test_without_declared_tokens_no_positions() -> None:
    found = RecordReader([], keep_tokens=False).read(line(BASE))
    assert (found.special_positions.tolist(), found.kept) == ([], None)


WHOLE = json.dumps(record(0, 0))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (WHOLE[:-40], "not JSON"),
        (WHOLE + WHOLE, "not JSON (Extra data"),
        (b"\0" * 500, "filled with NUL bytes"),
        ("[1, 2]", "a list, not a record"),
        ("7", "a number, not a record"),
        ("null", "a null, not a record"),
        (WHOLE.encode() + b"\xff", "not UTF-8"),
        ("[" * 100_000, "nested too deeply"),
        (WHOLE.replace("1.0", "1" * 5000), "not JSON that can be read"),
        (WHOLE.replace("[1, 2, 3]", '"1 2 3"'), "response_tokens is a string, not a list"),
        (WHOLE.replace("[1, 2, 3]", '[1, "2", 3]'), "response_tokens holds a string"),
        (WHOLE.replace("[1, 2, 3]", "[1, [2, 4], 3]"), "response_tokens holds a list"),
        (WHOLE.replace("[1, 2, 3]", "[[1], [], 3]"), "response_tokens holds a list"),
        (WHOLE.replace("[1, 2, 3]", "[1, 2.0, 3]"), "response_tokens holds a number"),
        (WHOLE.replace("[1, 2, 3]", "[1, true, 3]"), "response_tokens holds a boolean"),
        (WHOLE.replace("[5, 6]", '"56"'), "prompt_tokens is a string"),
        (WHOLE.replace("response_tokens", "other"), "no response_tokens"),
        (WHOLE.replace('"step": 0', '"step": "0"'), "step is no whole number"),
        (WHOLE.replace('"step": 0', '"step": true'), "step is no whole number"),
        (WHOLE.replace('"sample_idx": 0', '"sample_idx": 1e3'), "sample_idx is no whole number"),
        (WHOLE.replace('"step": 0, ', ""), "step is missing"),
    ],
)
def test_what_is_no_record_is_told_why(text: str | bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=r".*" + reason.replace("(", r"\(")):
        READER.read(line(text))


def test_a_record_may_lack_prompt_and_calls() -> None:
    fields = record(0, 0)
    del fields["prompt_tokens"], fields["request_info"]
    found = READER.read(line(json.dumps(fields)))
    assert (found.prompt_tokens, scalars(found)["call_count"]) == (None, None)
    info = {"num_calls": 3, "timeouts": 1, "tool_runtimes": 2.5, "tool_calleds": True, "excess_tool_calls": {}}
    early = scalars(READER.read(line(json.dumps(record(0, 0) | {"request_info": info}))))
    names = ("call_count", "timeout_count", "tool_runtime_seconds", "is_tool_called")
    assert tuple(early[name] for name in names) == (3, 1, 2.5, True)

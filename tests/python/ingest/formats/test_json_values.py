"""The one reader of JSON: whatever the bytes, it reads what Python's json reads, or says that it can't."""

import json

import pytest
import simdjson
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.formats.json_values import DEEPEST, JsonReader, parse_json
from ingest.formats.values import Unreadable

READER = JsonReader()
"""One for all examples: what one text leaves behind must not change the next."""

PIECES = [
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0",
    b"1" * 30,
    b"1" * 5000,
    b'"\\ud83d"',
    b'"\\u0000"',
    b"\xff",
    b"\xef\xbb\xbf",
]
PIECES += [
    b'{"a":1,"a":2}',
    b"\0",
    b"[" * 40,
    b"]" * 40,
    b"{",
    b"}",
    b",",
    b":",
    b'"',
    b"\\",
    b"\n",
    b"1.5",
    b"true",
    b" ",
]

texts = st.text(st.characters())  # half surrogate pairs among them
json_like = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
)


def plain(value: object) -> object:
    """The value without simdjson's proxies, so that the reader can go on."""
    if isinstance(value, simdjson.Object):
        return value.as_dict()
    return value.as_list() if isinstance(value, simdjson.Array) else value


@settings(max_examples=2000)
@given(json_like, st.integers(0, 60), json_like)
@example(b'{"a": "\xed\xa0\x80"}', 0, b"")
@example(b'{"s": 1, "s\\u0000t": 2}', 0, b"")
@example('{"a": 1}'.encode("utf-16"), 0, b"")
def test_what_is_read_is_what_pythons_json_reads(text: bytes, at: int, inserted: bytes) -> None:
    raw = text[:at] + inserted + text[at:]
    try:
        expected = repr(json.loads(raw))
    except ValueError:
        expected = None
    for read in (parse_json, READER.read):
        try:
            found = repr(plain(read(raw)))
        except Unreadable:
            found = None
        assert found == expected


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("core", ["1", "NaN"])
def test_a_value_may_be_nested_this_deep_and_no_deeper(opening: str, core: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    for depth in (DEEPEST, DEEPEST + 1, 990, 1_010, 5_000, 200_000):
        raw = opening * depth + core + closing * depth
        if depth <= DEEPEST:
            assert json.dumps(parse_json(raw)).replace(" ", "") == raw
        else:
            with pytest.raises(Unreadable, match="nested too deeply"):
                parse_json(raw)


@pytest.mark.parametrize(
    ("raw", "line", "reason"),
    [
        (b'{\n"a": 1,\n"b": }', 3, "not JSON (Expecting value"),
        (b'{\n"a": "\xff"}', 2, "not UTF-8 text"),
        (b"", 1, "empty, not JSON"),
        (b"\0" * 90, 1, "filled with NUL bytes"),
        (b"1" * 4301, 1, "not JSON that can be read (Exceeds the limit"),
    ],
    ids=["torn", "another encoding", "empty", "NUL", "4,301 digits"],
)
def test_why_and_in_which_line_a_text_is_no_json(raw: bytes, line: int, reason: str) -> None:
    with pytest.raises(Unreadable) as problem:
        parse_json(raw)
    assert problem.value.line == line and str(problem.value).startswith(reason)

"""Names that come from data become file names that stay in their folder and apart."""

import re
from pathlib import PurePosixPath, PureWindowsPath

from hypothesis import example, given
from hypothesis import strategies as st

from homes.names import file_stem, file_stems

ODD = st.text(alphabet="aAbB./\\ _-:\n\0é😀", max_size=12) | st.text(max_size=300)


@given(ODD)
@example("")
@example("..")
@example("../../etc/passwd")
@example("/etc/passwd")
@example("C:\\windows")
@example("a" * 1000)
@example("\ud800")
@example("-rf")
@example("_hidden")
def test_a_stem_is_one_plain_path_part(name):
    stem = file_stem(name)
    assert re.fullmatch(r"[A-Za-z0-9=+][A-Za-z0-9._=+-]*", stem)
    assert len(stem) <= 129
    assert PurePosixPath(stem).parts == (stem,) and PureWindowsPath(f"{stem}.csv").parts == (f"{stem}.csv",)


@given(st.sets(ODD, max_size=20))
@example({"a/b", "a_b", "a b", "a:b"})
@example({"Arm", "arm", "ARM", "aRm/"})
@example({"", " ", "unnamed"})
def test_stems_differ_even_without_case(names):
    stems = file_stems(names)
    assert set(stems) == names
    assert len({stem.casefold() for stem in stems.values()}) == len(names)


def test_a_name_that_is_anothers_stem_does_not_collide():
    names = {"a/b"}
    for _ in range(4):  # each round adds every stem that the names have by then
        names |= set(file_stems(names).values())
    assert len({stem.casefold() for stem in file_stems(names).values()}) == len(names)


def test_a_harmless_name_is_its_own_stem_and_a_stem_does_not_depend_on_order():
    assert file_stem("hardened-prefilter-dppo-9b") == "hardened-prefilter-dppo-9b"
    assert file_stems(["b", "B", "c"]) == file_stems(["c", "B", "b"])
    assert file_stems(["b", "B", "c"])["c"] == "c"

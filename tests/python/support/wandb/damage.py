"""Framed records of a `.wandb` log, and ways to damage them."""

import io

from hypothesis import strategies as st

from simulate.curves.wandb_writer import frame


def framed(items: list[bytes]) -> bytes:
    out = io.BytesIO()
    frame(items, out)
    return out.getvalue()


@st.composite
def damage(draw, size: int) -> list[tuple[str, int, bytes]]:
    kinds = st.sampled_from(["flip", "cut", "insert", "delete", "zero"])
    count = draw(st.integers(1, 6))
    return [
        (draw(kinds), draw(st.integers(0, size - 1)), draw(st.binary(min_size=1, max_size=40))) for _ in range(count)
    ]

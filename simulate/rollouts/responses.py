"""One simulated response: what the policy wrote, what was inserted, and which of it was a tool call, planned in pieces.

Nothing here looks for runs or markers: the truth is what was put together.
"""

from dataclasses import dataclass

import numpy as np

LONGEST_CERTAIN_RUN = 15
"""A near-certain policy writes zeros too, in shorter runs than any tool output the accounting can tell."""
SHORTEST_BLOCK = 16


@dataclass(frozen=True)
class Vocabulary:
    """A model's tokens: `size` plain ones from 0, and the three special ones."""

    model_name: str
    size: int
    open_id: int
    close_id: int
    end_id: int


QWEN_3_5 = Vocabulary("Qwen/Qwen3.5-9B", 248_000, 248_058, 248_059, 248_046)
QWEN_3 = Vocabulary("TMaxxx/prefilter-Qwen3-8B-sft", 151_000, 151_657, 151_658, 151_645)
UNDECLARED = Vocabulary("allenai/Olmo-3-7B-Think", 100_000, 100_270, 100_271, 100_265)


@dataclass
class Response:
    """Tokens and logprobs with their truth, the truth of tool calls whether or not the model's tokens are declared."""

    tokens: list[int]
    logprobs: list[float]
    tool_output_tokens: int
    tool_block_count: int
    call_count: int
    assistant_segment_count: int
    tool_call_tokens: int
    tool_call_span_count: int
    unclosed_tool_call_tokens: int
    finish_reason: str

    @property
    def assistant_tokens(self) -> int:
        return len(self.tokens) - self.tool_output_tokens


def empty_response(words: Vocabulary) -> Response:
    """What a trainer writes for an empty response: one end token whose logprob is NaN."""
    return Response([words.end_id], [float("nan")], 0, 0, 0, 1, 0, 0, 0, "stop")


def response(
    rng: np.random.Generator,
    words: Vocabulary,
    length: int,
    call_count: int,
    malformed_rate: float,
    decimals: int | None = 4,
) -> Response:
    """A response of `length` tokens (24 at least) around `call_count` tool outputs; fewer where they do not fit.

    A share `malformed_rate` ends inside a tool call. Logprobs have `decimals` places, or all that a float32 has.
    """
    call_count = min(call_count, (length - 12) // 40)
    blocks = _block_lengths(rng, length, call_count)
    written = length - sum(blocks)
    starts_with_block = bool(blocks) and rng.random() < 0.02
    ends_with_block = bool(blocks) and rng.random() < 0.03
    stretches = _stretch_lengths(rng, written, call_count + 1, starts_with_block, ends_with_block)
    tokens = rng.integers(0, words.size, length)
    logprobs = -np.maximum(rng.exponential(0.4, length), 0.001)
    logprobs = np.round(logprobs, decimals) if decimals else logprobs.astype(np.float32).astype(np.float64)
    made = _Maker(rng, words, tokens, logprobs)
    for i, stretch in enumerate(stretches):
        is_last = i == len(stretches) - 1
        cuts = is_last and rng.random() < malformed_rate
        may_stay_open = not is_last and stretches[i + 1] > 0
        made.write(stretch, cuts, calls=not is_last and rng.random() < 0.8, may_stay_open=may_stay_open)
        if not is_last:
            made.insert(blocks[i])
    stopped = rng.random() < 0.96 and not ends_with_block
    return Response(
        tokens.tolist(),
        logprobs.tolist(),
        made.inserted,
        made.block_count,
        call_count,
        made.segment_count,
        made.in_calls,
        made.span_count,
        made.unclosed,
        "stop" if stopped else "length",
    )


class _Maker:
    """Fills tokens and logprobs from left to right and keeps count of what it planted."""

    def __init__(self, rng: np.random.Generator, words: Vocabulary, tokens: np.ndarray, logprobs: np.ndarray) -> None:
        self._rng, self._words, self._tokens, self._logprobs = rng, words, tokens, logprobs
        self._at = 0
        self._is_after_block = True
        self._stays_open = False
        self.inserted = self.block_count = self.segment_count = 0
        self.in_calls = self.span_count = self.unclosed = 0

    def insert(self, length: int) -> None:
        """Tool output: zeros. One below 16 tokens can't be told from what the policy wrote and counts as that."""
        piece = slice(self._at, self._at + length)
        self._logprobs[piece] = 0.0
        if self._rng.random() < 0.1:
            marker = self._words.open_id if self._rng.random() < 0.5 else self._words.close_id
            self._tokens[self._at + length // 2] = marker if length >= SHORTEST_BLOCK else 0
        self._at += length
        if length >= SHORTEST_BLOCK:
            self.inserted += length
            self.block_count += 1
            self._is_after_block = True
        else:
            if self._stays_open:
                self.in_calls += length
            if self._is_after_block:
                self.segment_count += 1
            self._is_after_block = False

    def write(self, length: int, cuts: bool, calls: bool, may_stay_open: bool) -> None:
        """A stretch of the policy: some thought, then a tool call where it `calls`, one without an end where it `cuts`.

        Where it `may_stay_open`, a call can go on after the tool output that follows.
        """
        if not length:
            return
        if self._is_after_block:
            self.segment_count += 1
        self._is_after_block = False
        first, end = self._at, self._at + length
        self._at = end
        if self._stays_open:
            # The call that the stretch before left open is closed here.
            self._tokens[first + 1] = self._words.close_id
            self.in_calls += 2
            self._stays_open = False
            first += 2
        elif self._rng.random() < 0.05:
            self._tokens[first] = self._words.close_id
        if end - first < 6:
            return
        opened = end - int(self._rng.integers(4, min(end - first, 60)))
        if cuts:
            self._tokens[opened] = self._words.open_id
            self.span_count += 1
            self.in_calls += end - opened
            self.unclosed = end - opened
        elif calls:
            self._tokens[opened] = self._words.open_id
            self.span_count += 1
            if self._rng.random() < 0.05:
                self._tokens[opened + 1] = self._words.open_id
            if may_stay_open and self._rng.random() < 0.02:
                self._stays_open = True
                self.in_calls += end - opened
            else:
                self._tokens[end - 2] = self._words.close_id
                self.in_calls += end - 1 - opened
        self._be_certain(first, opened)

    def _be_certain(self, first: int, end: int) -> None:
        """Plant a run of zeros that the policy wrote itself, between other tokens of its own."""
        room = end - first - 2
        lowest, highest = [(4, 7), (8, 11), (12, 15)][int(self._rng.choice(3, p=[0.968, 0.03, 0.002]))]
        length = int(self._rng.integers(lowest, highest + 1))
        if length <= min(room, LONGEST_CERTAIN_RUN):
            start = first + 1 + int(self._rng.integers(0, room - length + 1))
            self._logprobs[start : start + length] = 0.0


def _block_lengths(rng: np.random.Generator, length: int, count: int) -> list[int]:
    """Mostly 24 tokens and more, some of 16 to 23, a few shorter than can be told; half of the response at most."""
    if not count:
        return []
    longest = max(length // (2 * count), 26)
    lengths = rng.integers(24, longest, count)
    lengths = np.where(rng.random(count) < 0.08, rng.integers(SHORTEST_BLOCK, 24, count), lengths)
    if rng.random() < 0.004:
        lengths[-1] = rng.integers(6, SHORTEST_BLOCK)
    return lengths.tolist()


def _stretch_lengths(
    rng: np.random.Generator, total: int, count: int, starts_with_block: bool, ends_with_block: bool
) -> list[int]:
    """`count` lengths that add up to `total`, each 6 at least but for a first or last one that is to be empty."""
    is_empty = [(starts_with_block and i == 0) or (ends_with_block and i == count - 1) for i in range(count)]
    filled = count - sum(is_empty)
    if not filled:
        is_empty, filled = [False] * count, count
    spare = total - 6 * filled
    cuts = np.sort(rng.integers(0, spare + 1, filled - 1))
    shares = iter(np.diff(np.concatenate([[0], cuts, [spare]])).tolist())
    return [0 if empty else 6 + next(shares) for empty in is_empty]

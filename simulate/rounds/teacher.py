"""The teacher's calls of a simulated campaign, in every shape seen in public logs, and what they truly cost."""

import dataclasses
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from simulate.rounds.plan import DIAGNOSTIC, RUN, TASKS, Shape, begins, write_lines

PRICES: list[list[str | None]] = [
    ["gpt-5.6-luna*", "2026-09-01", "1.25", "0.125", "10", "1.5625", None, None, None, "price list of September"],
    ["gpt-5.6-luna*", "2026-09-09", "1", "0.1", "8", "1.25", None, None, None, "price list of 9 September"],
    ["gpt-5.6-luna-mini*", "2026-09-01", "0.25", "0.025", "2", "0.3125", None, None, None, "price list of September"],
    ["gpt-?.?-*", None, "100", "50", "200", "125", None, None, None, "an upper bound for models without a price"],
]
"""Rows of declared/model_prices.csv. The last is shorter than the others, so it never counts where they do."""
LUNA = (("1.25", "0.125", "10", "1.5625"), ("1", "0.1", "8", "1.25"))
MINI = ("0.25", "0.025", "2", "0.3125")
OFF_STEP, OFF_ROLE = 3, "rubric"
"""Where the run's own ledger is a cent too high."""

NESTED = 900
"""Numbers from here on are of calls nested in judge_evaluations."""


@dataclass(frozen=True)
class Usage:
    """What a call used: all input, what of it was read from a cache or written to it, all output, what of it was
    reasoning. None is what the form of its provider does not state."""

    form: str
    input: int
    cached: int
    written: int | None
    output: int
    reasoning: int | None

    def priced(self, rates: tuple[str, str, str, str]) -> Decimal:
        """What it costs at these USD per million: fresh input, cached input, output, cache writes."""
        fresh, cached, output, write = (Decimal(rate) for rate in rates)
        written = self.written or 0
        billed = (self.input - self.cached - written) * fresh + self.cached * cached + written * write
        return (billed + self.output * output) / 1_000_000


@dataclass
class Call:
    """One call and its truth. Tokens are None where the log does not say; `cost` is None where nobody can know it."""

    call_id: str
    run: str
    step: int
    role: str
    cost: Decimal | None
    source: str
    usage: Usage | None
    row: dict
    tries: list[dict]


def write_teacher(folder: Path, shape: Shape, seed: int) -> tuple[list[Call], list[tuple[int, str, Decimal | None]]]:
    """Write `teacher_calls/` and `teacher_spend.jsonl`. Returns every call, and the ledger's (step, role, cost)."""
    rng = random.Random(f"teacher/{seed}")
    text = "".join(rng.choice("etaoin shrdlu") for _ in range(min(shape.text_bytes // 10, 500)))
    calls: list[Call] = []
    spent: dict[tuple[int, str], list[Decimal | None]] = defaultdict(list)
    workers: list[list[dict]] = [[], []]
    for step in range(1, shape.rounds + 1):
        for task in TASKS:
            roles = ["reference", "rubric", *["verifier"] * shape.verifier_calls]
            for number, role in enumerate(roles):
                call = _call(rng, RUN, step, task, role, number, text)
                calls.append(call)
                spent[step, role].append(call.cost)
                workers[number % 2] += [*call.tries, call.row]
                # A thousand rounds have 400,000 calls: their texts go to the files and are not kept.
                call.row, call.tries = {}, []
        if step % 50 == 0:
            _flush(folder, workers, step)
    _flush(folder, workers, shape.rounds)
    nested = [_call(rng, RUN, 1, TASKS[0], "verifier", NESTED + n, text) for n in range(2)]
    judged = [{key: call.row[key] for key in ("call_id", "response", "model")} for call in nested]
    bare = {"id": "resp_policy", "model": "student", "usage": {"input_tokens": 9, "output_tokens": 9}}
    shared = {"run_id": RUN, "step": 1, "role": "verifier", "created_at": begins(1).timestamp()}
    write_lines(
        folder / RUN / "teacher_calls" / "worker-2" / "judged.jsonl",
        [
            shared | {"response": bare, "reward": 1.0, "judge_evaluations": judged},
            shared | {"response": bare, "reward": 0.0, "judge_evaluations": None},
        ],
    )
    calls += nested
    spent[1, "verifier"] += [call.cost for call in nested]
    diagnostic = _call(rng, DIAGNOSTIC, 1, TASKS[0], "verifier", 0, text)
    write_lines(folder / DIAGNOSTIC / "teacher_calls" / "worker-0" / "calls.jsonl", [diagnostic.row])
    calls.append(diagnostic)
    ledger: list[tuple[int, str, Decimal | None]] = []
    for (step, role), costs in sorted(spent.items()):
        known = [cost for cost in costs if cost is not None]
        total = sum(known, Decimal(0)) if len(known) == len(costs) else None
        if total is not None and (step, role) == (OFF_STEP, OFF_ROLE):
            total += Decimal("0.01")
        ledger.append((step, role, total))
    write_lines(
        folder / RUN / "rollout" / RUN / "teacher_spend.jsonl",
        (
            {"step": s, "role": r, "model": "gpt-5.6-luna", "cost_usd": None if c is None else float(c), "calls": 5}
            for s, r, c in ledger
        ),
    )
    return calls, ledger


def _flush(folder: Path, workers: list[list[dict]], step: int) -> None:
    for number, rows in enumerate(workers):
        if rows:
            write_lines(folder / RUN / "teacher_calls" / f"worker-{number}" / f"calls-{step:05d}.jsonl", rows)
            rows.clear()


def _call(rng: random.Random, run: str, step: int, task: str, role: str, number: int, text: str) -> Call:
    """One call in a shape drawn at random."""
    at = begins(step) + timedelta(minutes=1, seconds=number)
    call_id = f"{run}-{step}-{task}-{number}"
    is_plain = (role == "rubric" and step == OFF_STEP) or number >= NESTED
    kind = "full" if is_plain else rng.choices(*zip(*_KINDS, strict=True))[0]
    model = {"mini": "gpt-5.6-luna-mini-2026", "unpriced": "teacher-alias"}.get(kind, "gpt-5.6-luna-2026-08-01")
    used = _used(rng)
    holder, usage = _usage(used)
    response_id = f"resp_{call_id}"
    response = {"id": response_id, "object": "response", "created_at": at.timestamp(), "model": model}
    response |= {"output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}], holder: usage}
    row = {"call_id": call_id, "run_id": run, "step": step, "group_id": f"r{step}-{task}", "role": role}
    row |= {"model": model, "created_at": at.timestamp(), "request": {"input": text, "input_ids": [1, 2]}}
    row |= {"response": response}
    rates = MINI if kind == "mini" else LUNA[at.day >= 9]
    cost: Decimal | None = used.priced(rates)
    source = "priced"
    tries: list[dict] = []
    known: Usage | None = used
    if kind == "no_usage":
        response[holder], known, cost, source = None, None, None, "unknown"
    elif kind == "unpriced":
        cost, source = None, "unknown"
        usage["cost"] = 0.0
    elif kind == "reported":
        cost, source = Decimal("0.003125") + Decimal(number) / 1000, "reported"
        row["cost_usd"] = float(cost)
    elif kind == "filler_time":
        row["created_at"] = response["created_at"] = 1.0
        # No price is in force at an unknown time but the one that always was.
        cost = used.priced(("100", "50", "200", "125"))
    elif kind == "retried":
        tries = [
            row | {"response": None},
            row | {"response": response | {"usage": {"input_tokens": 7, "output_tokens": 7}}},
        ]
    elif kind == "retried_in_vain":
        tries, row = [row], row | {"response": None}
    elif kind == "by_response_id":
        del row["call_id"]
        call_id = response_id
    elif kind == "blank_model":
        row["model"] = ""
    elif kind == "written_twice":
        tries = [row]
    elif kind == "streamed":
        # The API's own chunks, a line each, with the place in the run that a logger added. Usage is in the last.
        chunk = {"id": response_id, "object": "chat.completion.chunk", "created": int(at.timestamp()), "model": model}
        chunk |= {"run_id": run, "step": step, "role": role, "choices": [{"delta": {"content": text}}]}
        tries, row = [chunk, chunk | {"usage": None}], chunk | {holder: usage}
        call_id = response_id
    return Call(call_id, run, step, role, cost, source, known, row, tries)


_KINDS = (
    ("full", 8), ("no_usage", 5), ("mini", 2), ("unpriced", 1), ("reported", 2), ("filler_time", 1), ("retried", 2),
    ("retried_in_vain", 1),
    ("by_response_id", 1), ("blank_model", 1), ("written_twice", 1), ("streamed", 1),
)  # fmt: skip


def _used(rng: random.Random) -> Usage:
    """What a call used, in a provider's form that is drawn at random."""
    form = rng.choice(("openai", "openai", "anthropic", "gemini", "deepseek", "thinking_outside"))
    total, output = rng.randrange(500, 9000), rng.randrange(50, 900)
    written = rng.choice([0, total // 4]) if form == "anthropic" else None
    reasoning = None if form == "anthropic" else rng.choice([0, output // 3])
    if form == "thinking_outside":
        reasoning = output // 3
    return Usage(form, total, rng.choice([0, total // 2]), written, output, reasoning)


def _usage(used: Usage) -> tuple[str, dict]:
    """The key that holds a usage object in its response, and the object as its provider writes it."""
    reasoning = used.reasoning or 0
    if used.form == "anthropic":
        written = used.written or 0
        return "usage", {
            "input_tokens": used.input - used.cached - written,
            "cache_read_input_tokens": used.cached,
            "cache_creation_input_tokens": written,
            "output_tokens": used.output,
        }
    if used.form == "gemini":
        return "usageMetadata", {
            "promptTokenCount": used.input,
            "cachedContentTokenCount": used.cached,
            "candidatesTokenCount": used.output - reasoning,
            "thoughtsTokenCount": reasoning,
            "totalTokenCount": used.input + used.output,
        }
    # A Responses object may hold the names of the other API.
    names = ("input", "output") if used.input % 2 and used.form == "openai" else ("prompt", "completion")
    usage = {
        f"{names[0]}_tokens": used.input,
        f"{names[1]}_tokens": used.output - (reasoning if used.form == "thinking_outside" else 0),
        f"{names[1]}_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": used.input + used.output,
    }
    if used.form == "deepseek":
        cache = {"prompt_cache_hit_tokens": used.cached, "prompt_cache_miss_tokens": used.input - used.cached}
        return "usage", usage | cache
    return "usage", usage | {f"{names[0]}_tokens_details": {"cached_tokens": used.cached}}


def standing(calls: list[Call]) -> Iterator[list]:
    """The truth of each call: id, run, step, role, what it used, cost and where that is from."""
    for call in calls:
        used = dataclasses.astuple(call.usage) if call.usage else (None,) * 6
        yield [call.call_id, call.run, call.step, call.role, *used, call.cost, call.source]

"""Which arm a run belongs to, in plain Python: section B of docs/reference/judgement.md."""

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass

from tests.python.support.stitch.axes import (
    REACH_GAPS,
    Declared,
    Log,
    at,
    choose_key,
    declared_axes,
    glob,
    last,
    log_order,
    median,
    nulls_last,
    rises,
    standing,
    step_synced,
    time_of,
    words,
)

LAUNCH_TAILS = (
    "__[0-9]+__[0-9]{9,10}$",
    "[-_.@ ]+[0-9]{4}-?[0-9]{2}-?[0-9]{2}[-_T.@ ]+[0-9]{2}[-_:.h]?[0-9]{2}([-_:.m]?[0-9]{2})?([.][0-9]+)?[sZ]?$",
    "[-_.@ ]+(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[0-9]{1,2}"
    "[-_][0-9]{2}-[0-9]{2}-[0-9]{2}(_[A-Za-z0-9.-]+)?$",
    "[-_.@ ]+1[0-9]{9}([0-9]{3})?([.][0-9]+)?$",
)
IDENTITY_KEYS = words(
    "seed *_seed learning_rate lr *_lr *_learning_rate env env_id env_name environment environment_name gym_id game "
    "task task_name task_id suite dataset dataset_name dataset_id dataset_path dataset_mixer* train_dataset data "
    "data_name train_data train_file train_files model model_name model_id model_name_or_path base_model "
    "base_model_name pretrained_model_name_or_path arch architecture batch_size train_batch_size global_batch_size "
    "rollout_batch_size mini_batch_size minibatch_size algo algorithm algo_name adv_estimator advantage_estimator "
    "loss_type loss_fn method technique optimizer optim weight_decay beta kl_beta kl_coef init_kl_coef gamma "
    "gae_lambda lam clip_range cliprange clip_coef ent_coef entropy_coef temperature num_generations group_size "
    "reward_function reward_fn reward_model reward_type lora_r lora_rank lora_alpha hidden_size num_layers"
)
UNSTATED = ("", "null", "None", "[]", "{}")
A_NUMBER = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"


@dataclass
class RunArm:
    arm: str
    evidence: str
    variant_of: str | None = None
    seed: str | None = None


def run_arms(logs: list[Log], declared: Declared) -> dict[str, RunArm]:
    """The arm of every run."""
    by_run = defaultdict(list)
    for log in sorted(logs, key=log_order):
        by_run[log.run_id].append(log)
    found, families = {}, defaultdict(list)
    for run_id in sorted(by_run):
        run = Run(run_id, by_run[run_id], declared)
        found[run_id] = RunArm(run.name, run.evidence, None, run.seed)
        if run.evidence not in ("declared", "path"):
            families[run.name].append(run)
    for base, runs in families.items():
        _split(base, runs, declared, found)
    return found


class Run:
    """The facts of a run, its name before variants, and what it states of itself."""

    def __init__(self, run_id: str, logs: list[Log], declared: Declared):
        self.run_id, self.logs = run_id, logs
        self.run_name = self._fact("run_name")
        self.config: dict[str, str] = {}
        for log in logs:  # the latest that states a key is believed
            self.config |= {key: value for key, text in log.config.items() if (value := stated(text)) is not None}
        self.name, self.evidence = self._named(declared)
        seeds = [key for key in sorted(self.config) if last(key, ".") == "seed"]
        self.seed = self.config[seeds[0]] if seeds else self._seed_in_name()

    def _fact(self, name: str) -> str | None:
        return next((text for log in reversed(self.logs) if (text := (getattr(log, name) or "").strip())), None)

    def _named(self, declared: Declared) -> tuple[str, str]:
        values = {
            "run_id": self.run_id,
            "run_pattern": self.run_id,
            "name_pattern": self.run_name,
            "group_pattern": self._fact("group"),
        }
        lines = [
            (list(values).index(kind), -len(re.sub("[*?]", "", pattern)), pattern, arm)
            for kind, pattern, arm in declared.assignments
            if values[kind] is not None
            and (values[kind] == pattern if kind == "run_id" else glob(pattern, values[kind]))
        ]
        if lines:
            filled = {"run_id": self.run_id, "run_name": self.run_name, "group": values["group_pattern"]}
            return re.sub("{(run_id|run_name|group)}", lambda m: filled[m[1]] or self.run_id, min(lines)[3]), "declared"
        if path := self._fact("arm_in_path"):
            return path, "path"
        if (launched := without_tail(self.run_name)) is not None:
            return launched, "launch_name"
        names = [key for key in self.config if last(key, ".") == "exp_name"]
        if names:
            return self.config[min(names, key=lambda key: (key != "exp_name", key))], "exp_name"
        return (self.run_name, "run_name") if self.run_name else (self.run_id, "run_id")

    def _seed_in_name(self) -> str | None:
        tail = re.search("__([0-9]+)__[0-9]{9,10}$", self.run_name or "")
        return tail[1] if tail else None

    def identity(self, base: str, declared: Declared) -> dict[str, str]:
        """What it states for identity keys, by full key."""
        free = {key for pattern, key in declared.unlearned if glob(pattern, base)}
        config = dict(self.config)
        if self.evidence == "launch_name" and self._seed_in_name() and not any(last(k, ".") == "seed" for k in config):
            config["seed"] = self.seed
        return {
            key: value
            for key, value in config.items()
            if key not in free and any(glob(pattern, last(key, ".").replace("-", "_")) for pattern in IDENTITY_KEYS)
        }


def _split(base: str, runs: list[Run], declared: Declared, found: dict[str, RunArm]) -> None:
    """Give runs of one name that state different values for identity keys arms of their own."""
    identities = {run.run_id: run.identity(base, declared) for run in runs}
    texts = defaultdict(lambda: defaultdict(set))
    for identity in identities.values():
        for key, value in identity.items():
            texts[key][comparable(value)].add(value)
    differing = sorted(key for key in texts if len(texts[key]) > 1)
    if not differing:
        return
    ends = [last(key, ".", lower=False) for key in differing]
    shown = {key: end if ends.count(end) == 1 else key for key, end in zip(differing, ends, strict=True)}
    signatures, names = {}, {}
    for run in runs:
        own = {key: comparable(v) for key, v in identities[run.run_id].items() if key in shown}
        signatures[run.run_id] = own
        pairs = [f"{shown[key]}={show(min(texts[key][own[key]]))}" for key in differing if key in own]
        names[run.run_id] = f"{base} [{short(', '.join(pairs))}]" if pairs else base
    spans = _spans(base, runs, declared)
    for run in sorted(runs, key=lambda run: (nulls_last(spans[run.run_id].time), run.run_id)):
        mine = spans[run.run_id]
        continued = [q for q in runs if mine.can_continue(spans[q.run_id])]
        continued.sort(key=lambda q: (nulls_last(spans[q.run_id].time), q.run_id))
        joins = continued and not any(signatures[q.run_id] == signatures[run.run_id] for q in continued)
        if joins:
            found[run.run_id] = RunArm(found[continued[-1].run_id].arm, "resumed", base, run.seed)
        else:
            found[run.run_id] = RunArm(names[run.run_id], "identity", base, run.seed)


@dataclass
class Span:
    """Where a run starts and how far it reaches, along the key of its family; start is None without a number."""

    run_id: str
    time: float | None
    start: float | None
    reach: float | None
    own_gap: float
    family_gap: float = 0

    def can_continue(self, q: "Span") -> bool:
        if self.start is None or q.start is None:
            return False
        is_before = (nulls_last(q.time), q.run_id) < (nulls_last(self.time), self.run_id)
        slack = REACH_GAPS * self.family_gap
        is_beginning = self.start <= self.own_gap or self.start <= q.start + slack
        return is_before and not is_beginning and q.reach >= self.start - slack


def _spans(base: str, runs: list[Run], declared: Declared) -> dict[str, Span]:
    logs = [log for run in runs for log in standing(run.logs)]
    key = choose_key([(log, row) for log in logs for row in log.rows], declared.position_keys.get(base))
    axes = {key} | declared_axes(log for log in logs if log.rows)
    spans, gaps = {}, []
    for run in runs:
        rows, own = [], []
        for log in standing(run.logs):
            synced = step_synced(log, list(enumerate(log.rows)), key, axes)
            found = [
                (nulls_last(time_of(log, row)), log.log_id, i, at(row, key))
                for i, row in enumerate(log.rows)
                if at(row, key) is not None and i not in synced
            ]
            rows += found
            own += rises([x for *_, x in found])
        gaps += own
        rows.sort()
        starts = [log.started_at for log in run.logs if log.started_at is not None]
        first = rows[0][0][1] if rows and not rows[0][0][0] else min(starts, default=None)
        positions = [x for *_, x in rows]
        spans[run.run_id] = Span(
            run.run_id, first, positions[0] if rows else None, max(positions, default=None), median(own)
        )
    for span in spans.values():
        span.family_gap = median(gaps)
    return spans


def without_tail(name: str | None) -> str | None:
    """The name without its launch tail; None where it has none, or nothing else."""
    for pattern in LAUNCH_TAILS:
        if name and re.search(pattern, name):
            return re.sub(pattern, "", name) or None
    return None


def stated(text: str) -> str | None:
    text = text.strip()
    text = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    return None if text in UNSTATED else text


def comparable(text: str) -> tuple[bool, float | str]:
    return (True, float(text)) if re.fullmatch(A_NUMBER, text) else (False, text)


def show(value: str) -> str:
    if re.fullmatch("[A-Za-z0-9_.:/+@ -]{1,40}", value):
        return value
    return re.sub("[^A-Za-z0-9_.:/+@ -]", "_", value[:24]) + "~" + hashlib.md5(value.encode()).hexdigest()[:8]


def short(bracket: str) -> str:
    return bracket if len(bracket) <= 100 else bracket[:60] + "~" + hashlib.md5(bracket.encode()).hexdigest()[:8]

"""The command line. Each command is one line into a room; heavy libraries are imported where they are used."""

import sys
from contextlib import nullcontext
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from homes.console import quiet_interrupts
from homes.errors import SeamlineError, UsageError
from homes.lock import open_home
from homes.paths import find_home

app = typer.Typer(
    help="The SQL warehouse for RL post-training campaigns.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
ingest_app = typer.Typer(help="Land upstream evidence as Parquet.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(ingest_app, name="ingest")


class Target(StrEnum):
    """The engine that builds the marts."""

    duckdb = "duckdb"
    spark = "spark"


class Engine(StrEnum):
    """What runs a reader: this machine's cores, or a Spark cluster's."""

    local = "local"
    spark = "spark"


class Profile(StrEnum):
    """How much an export holds."""

    archive = "archive"
    reading = "reading"


HomeOption = Annotated[
    Path | None, typer.Option("--home", help="Campaign home (default: $SEAMLINE_HOME, else home/ in the checkout).")
]
Paths = Annotated[list[str], typer.Argument(help="Files, folders or globs.")]


@app.command()
def init(home: HomeOption = None) -> None:
    """Create the home: empty landing tables, declared/ copied from seeds/ (never overwriting)."""
    with open_home(home) as opened:
        print(f"{opened.path}: ready; declare facts in {opened.declared}")


@ingest_app.command("checkpoints")
def ingest_checkpoints(
    paths: Annotated[list[str], typer.Argument(help="A sweep, one checkpoint folder, a manifest, or hf:ORG[/REPO].")],
    org: Annotated[
        str | None, typer.Option("--org", help="Organisation of the model ids (default: the sweep folder's name).")
    ] = None,
    home: HomeOption = None,
) -> None:
    """Land checkpoints: their files' times, archive logs, end-of-turn ids, submissions."""
    from ingest.checkpoints.sweeps import ingest_checkpoints

    with open_home(home) as opened:
        print(ingest_checkpoints(opened, paths, org).line())


@ingest_app.command("auto")
def ingest_auto(
    folder: Annotated[Path, typer.Argument(help="The folder that holds the campaign.")], home: HomeOption = None
) -> None:
    """Find every kind of source in a tree by its content, land it, and name what was not recognised."""
    from ingest.detect import ingest_auto

    with open_home(home) as opened:
        for line in ingest_auto(opened, folder):
            print(line, flush=True)


@ingest_app.command("driver-usage")
def ingest_driver_usage(paths: Paths, home: HomeOption = None) -> None:
    """Land the token reports of the driving agents' session logs (every driver/ folder below)."""
    from ingest.driver_usage.sessions import ingest_driver_usage

    with open_home(home) as opened:
        print(ingest_driver_usage(opened, paths).line())


@ingest_app.command("scores")
def ingest_scores(paths: Paths, home: HomeOption = None) -> None:
    """Land evaluation scores (CSV or JSONL)."""
    from ingest.scores.tables import ingest_scores

    with open_home(home) as opened:
        print(ingest_scores(opened, paths).line())


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def build(
    context: typer.Context,
    target: Annotated[Target, typer.Option(help="The engine: spark needs the extra seamline[spark] and Java.")] = (
        Target.duckdb
    ),
    home: HomeOption = None,
) -> None:
    """Run dbt build for this home; further arguments go to dbt."""
    from warehouse.build import build

    with open_home(home) as opened:
        print(build(opened, context.args, target.value))


@ingest_app.command("wandb")
def ingest_wandb(
    sources: Annotated[
        list[str],
        typer.Argument(help="Folders with .wandb logs or exported histories, such files, or ENTITY/PROJECT[/RUN]."),
    ],
    run_id: Annotated[
        str | None, typer.Option("--run-id", help="The run of an exported history that does not tell.")
    ] = None,
    group: Annotated[str | None, typer.Option("--group", help="Over the API: only runs of this W&B group.")] = None,
    since: Annotated[
        datetime | None,
        typer.Option("--since", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Over the API: only runs made since."),
    ] = None,
    run: Annotated[list[str] | None, typer.Option("--run", help="Over the API: only this run (repeatable).")] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, help="Over the API: seconds to wait for a run that sends nothing.")
    ] = 600,
    home: HomeOption = None,
) -> None:
    """W&B runs: .wandb logs, exported histories (CSV, JSON, JSONL), chart exports, or the API."""
    from ingest.wandb.api import Choice
    from ingest.wandb.source import ingest_wandb

    moment = f"{since:%Y-%m-%dT%H:%M:%SZ}" if since else None
    choice = Choice(group, moment, tuple(run or ()), timeout)
    with open_home(home) as opened:
        print(ingest_wandb(opened, sources, run_id, choice=choice).line())


@ingest_app.command("rollouts")
def ingest_rollouts(
    paths: Paths,
    keep_tokens: Annotated[
        bool, typer.Option("--keep-tokens", help="Land the token ids and log-probabilities too.")
    ] = False,
    engine: Annotated[Engine, typer.Option(help="What reads the shards: this machine, or Spark as for a build.")] = (
        Engine.local
    ),
    home: HomeOption = None,
) -> None:
    """Rollout shards of open-instruct with their metadata, plain, .gz or .zst."""
    from ingest.open_instruct.shards import ingest_rollouts
    from ingest.spark import spark_cluster

    with open_home(home) as opened, spark_cluster(opened) if engine is Engine.spark else nullcontext() as cluster:
        print(ingest_rollouts(opened, paths, keep_tokens, cluster=cluster).line())


@ingest_app.command("rounds")
def ingest_rounds(
    paths: Paths,
    token_arrays: Annotated[
        bool, typer.Option("--token-arrays", help="Land per-token ids and log-probabilities too.")
    ] = False,
    home: HomeOption = None,
) -> None:
    """Trees of round_<N>/ candidates, held-out attempts, scheduler events, saved steps, W&B exports."""
    from ingest.rounds.trees import ingest_rounds

    with open_home(home) as opened:
        print(ingest_rounds(opened, paths, token_arrays).line())


@ingest_app.command("native-metrics")
def ingest_native_metrics(
    paths: Paths,
    run_id: Annotated[
        str | None, typer.Option("--run-id", help="The run of these files, whatever their place.")
    ] = None,
    home: HomeOption = None,
) -> None:
    """verl FileLogger files (verl_metrics/<project>/<experiment>.jsonl)."""
    from ingest.verl.file_logger import ingest_native_metrics

    with open_home(home) as opened:
        print(ingest_native_metrics(opened, paths, run_id).line())


@ingest_app.command("teacher-calls")
def ingest_teacher_calls(paths: Paths, home: HomeOption = None) -> None:
    """LLM API call logs, JSONL; files named teacher_spend.jsonl are the run's own ledger."""
    from ingest.teacher_calls.logs import ingest_teacher_calls

    with open_home(home) as opened:
        print(ingest_teacher_calls(opened, paths).line())


@app.command()
def status(
    home: HomeOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, every record included.")] = False,
    all: Annotated[bool, typer.Option("--all", help="List every quarantined record.")] = False,
) -> None:
    """Show what has landed, what is quarantined, what was built, what is stale."""
    from warehouse.status import show

    show(find_home(home), json, all)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder, or an earlier export.")],
    only: Annotated[str | None, typer.Option(metavar="DOMAIN,...", help="Only these domains.")] = None,
    profile: Annotated[Profile, typer.Option(help="archive: all that landed; reading: without bulky arrays.")] = (
        Profile.archive
    ),
    limit_gib: Annotated[float, typer.Option(min=0, help="Refuse an export larger than this.")] = 4.0,
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Tables only, no PNG and PDF.")] = False,
    with_host_info: Annotated[
        bool, typer.Option("--with-host-info", help="Keep home folders, e-mail addresses and host names in configs.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing: verify the export in DIR.")] = False,
    target: Annotated[Target, typer.Option(help="The engine whose marts are exported.")] = Target.duckdb,
    home: HomeOption = None,
) -> None:
    """Write the marts as files for readers: CSV, README, file list, checksums."""
    from export.check import check as verify
    from export.run import DOMAINS, export

    domains = [name.strip() for name in only.split(",")] if only is not None else []
    for name in domains:
        if name not in DOMAINS:
            raise typer.BadParameter(f"{name!r} is no domain; known are {', '.join(DOMAINS)}", param_hint="--only")
    with open_home(home) as opened:
        if check:
            print(verify(opened, folder, target.value))
        else:
            figures = not no_figures
            told = export(opened, folder, domains, profile.value, limit_gib, figures, with_host_info, target.value)
            print("\n".join(told))


@app.command()
def publish(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An export.")],
    repo_id: Annotated[str, typer.Argument(metavar="REPO_ID", help="The Hub's dataset, ORG/NAME.")],
    create: Annotated[bool, typer.Option("--create", help="Make the dataset where there is none.")] = False,
    public: Annotated[bool, typer.Option("--public", help="With --create: for everyone to see.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Send nothing: print what would be sent.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove files there that are not in the export.")] = False,
) -> None:
    """Upload an export to the Hugging Face Hub, and verify what is there afterwards."""
    from export.publish import publish

    print("\n".join(publish(folder, repo_id, create, public, dry_run, prune)))


@app.command()
def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One select.")],
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, a list of objects.")] = False,
    home: HomeOption = None,
) -> None:
    """Ask the warehouse: one query, read-only, of what the last build made."""
    from export.sql import show

    if csv and json:
        raise typer.BadParameter("name one of --csv and --json")
    show(find_home(home), query, csv, json)


@app.command()
def report(
    target: Annotated[Path, typer.Argument(metavar="OUT.html", help="The page to write; an earlier one is replaced.")],
    home: HomeOption = None,
) -> None:
    """Write one HTML page with figures, audit, tests, caveats and tables; it fetches nothing."""
    from export.report.page import report

    print(report(find_home(home), target))


@app.command()
def simulate(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to write; an earlier simulation is replaced.")
    ],
    scale: Annotated[
        str,
        typer.Option(
            help="small (seconds), card (13 arms, 60 runs), a number of arms, or bench (rollouts as long as real ones)."
        ),
    ] = "small",
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same bytes.")] = 0,
) -> None:
    """Write a synthetic campaign in the upstream formats, with its truth beside it."""
    from simulate.campaign import simulate

    simulate(directory.resolve(), scale, seed)
    truth = directory / "truth"
    print(f"{directory}: simulated" + (f"; what every curve must be is in {truth}" if truth.exists() else ""))


@app.command()
def demo(home: HomeOption = None) -> None:
    """Simulate a small campaign, ingest, build and export it, and say where to look."""
    from simulate.demo import demo

    with open_home(home) as opened:
        for line in demo(opened):
            print(line, flush=True)


def main() -> None:
    """Run the command line: exit 0 done, 1 the input or the data is at fault, 2 wrong usage, 130 interrupted."""
    try:
        with quiet_interrupts():
            app(prog_name="seamline")
    except SeamlineError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except OSError as error:
        print(f"error: {error.filename or 'the system'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()

"""The command line. Each command is one line into a room; heavy libraries are imported where they are used."""

import sys
from enum import StrEnum
from inspect import Parameter, Signature
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from homes.console import quiet_interrupts
from homes.errors import SeamlineError, UsageError
from homes.lock import open_home
from homes.paths import find_home
from ingest.kind import Kind, load
from ingest.sources import DOMAINS_OF_KINDS, KINDS

app = typer.Typer(
    help="The SQL warehouse for RL post-training campaigns.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class KindOrPaths(TyperGroup):
    """`ingest`: where no kind is named, `auto` is meant. A kind wins over a path of its name (write `./scores`)."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # a click Context, of typer's own copy of click
        if args and args[0] not in self.commands and args[0] not in self.get_help_option_names(ctx):
            args = ["auto", *args]
        return super().parse_args(ctx, args)


ingest_app = typer.Typer(
    cls=KindOrPaths,
    help="Land upstream evidence as Parquet. Without a kind, `seamline ingest PATH...` finds it by content (`auto`); "
    "a path that has the name of a kind is written ./NAME.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(ingest_app, name="ingest")


class Target(StrEnum):
    """The engine that builds the marts."""

    duckdb = "duckdb"
    spark = "spark"


class Profile(StrEnum):
    """How much an export holds."""

    archive = "archive"
    reading = "reading"


HomeOption = Annotated[
    Path | None, typer.Option("--home", help="Campaign home (default: $SEAMLINE_HOME, else home/ in the checkout).")
]


def _add_kind(kind: Kind) -> None:
    """The command `seamline ingest <kind>`, with the options that the kind states."""

    def command(**given: Any) -> None:
        home, paths = given.pop("home"), given.pop("paths")
        with open_home(home) as opened:
            print(load(kind.reader)(opened, paths, **given).line())

    paths = Annotated[list[str], typer.Argument(help=kind.argument_help)]
    parameters = [Parameter("paths", Parameter.KEYWORD_ONLY, annotation=paths)]
    for option in kind.options:
        type_: Any = GenericAlias(list, (option.type,)) if option.is_repeatable else option.type
        told = typer.Option(option.flag, help=option.help, min=option.minimum)
        annotation: Any = Annotated[type_ if option.default is not None else type_ | None, told]
        parameters.append(
            Parameter(option.argument, Parameter.KEYWORD_ONLY, default=option.default, annotation=annotation)
        )
    parameters.append(Parameter("home", Parameter.KEYWORD_ONLY, default=None, annotation=HomeOption))
    vars(command)["__signature__"] = Signature(parameters)
    ingest_app.command(kind.name, help=kind.help)(command)


@app.command()
def init(
    forget_outdated: Annotated[
        bool, typer.Option("--forget-outdated", help="Remove what another version landed and was not read again.")
    ] = False,
    home: HomeOption = None,
) -> None:
    """Create the home: empty landing tables, declared/ copied from seeds/ (never overwriting)."""
    with open_home(home) as opened:
        if forget_outdated:
            from homes.outdated import forget_outdated as forget

            print(forget(opened))
        print(f"{opened.path}: ready; declare facts in {opened.declared}")


@ingest_app.command("auto")
def ingest_auto(
    paths: Annotated[list[str], typer.Argument(help="Folders that hold a campaign, files or globs.")],
    home: HomeOption = None,
) -> None:
    """Find every kind of source by its content, land it, and name what was not recognised."""
    from ingest.detect import ingest_auto

    with open_home(home) as opened:
        for line in ingest_auto(opened, paths):
            print(line, flush=True)


for _kind in KINDS.values():
    _add_kind(_kind)


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
        print(build(opened, context.args, target.value, DOMAINS_OF_KINDS))


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
def explain(
    arm: Annotated[str, typer.Argument(metavar="ARM", help="An arm, as in the mart `arms`.")],
    step: Annotated[int | None, typer.Option("--step", min=1, help="Also whence this training_step comes.")] = None,
    metric: Annotated[str | None, typer.Option("--metric", help="With --step: this metric alone.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    home: HomeOption = None,
) -> None:
    """Say why an arm's curve is this curve: its launches, lineages, seams, and what was dropped by whom."""
    from warehouse.explain import show

    if metric is not None and step is None:
        raise typer.BadParameter("--metric goes with --step")
    show(find_home(home), arm, step, metric, json)


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
            help="small (seconds), card (13 arms, 60 runs), a number of arms, shapes (W&B logs of every shape of "
            "restart, axis and name), or bench (rollouts as long as real ones)."
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

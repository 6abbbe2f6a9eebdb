"""`seamline demo`: a small simulated campaign, from upstream files to an export, in the home given."""

import filecmp
import shutil
from collections.abc import Iterator
from pathlib import Path

from export.run import export
from homes.errors import HomeError
from homes.landing import forget, landed
from homes.paths import PROJECT, Home
from ingest.detect import ingest_auto
from ingest.sources import DOMAINS_OF_KINDS
from simulate.campaign import simulate
from warehouse.build import build


def demo(home: Home) -> Iterator[str]:
    """Simulate, ingest, build and export; yields a line after each step.

    Raises HomeError where the home holds anything of a real campaign: landed sources or declared facts.
    """
    campaign = home.path / "demo"
    _check_home(home, campaign)
    simulate(campaign)
    yield f"{campaign}: simulated; what every curve must be is in {campaign / 'truth'}"
    for path in sorted((campaign / "declared").glob("*.csv")):
        aside = shutil.copyfile(path, home.declared / f"{path.name}.new")
        aside.replace(home.declared / path.name)
    for source in landed(home).values():
        if not Path(source.path).exists():
            forget(home, source.name)
    yield from ingest_auto(home, [str(campaign)])
    yield build(home, domains_of_kinds=DOMAINS_OF_KINDS)
    yield from export(home, home.exports)
    yield f"look at {home.exports / 'INDEX.md'} and the CSV files beside it; `seamline status` shows the home"


def _check_home(home: Home, campaign: Path) -> None:
    foreign = sorted(s.path for s in landed(home).values() if not Path(s.path).is_relative_to(campaign))
    if foreign:
        raise HomeError(
            f"{home.path}: holds a campaign already ({foreign[0]} has landed); give the demo a home of its own: "
            "`seamline demo --home NEW_FOLDER`"
        )
    for path in sorted(home.declared.glob("*.csv")):
        ours = (PROJECT / "seeds" / path.name, campaign / "declared" / path.name)
        if not any(own.exists() and filecmp.cmp(path, own, shallow=False) for own in ours):
            raise HomeError(
                f"{path}: holds declared facts that a demo would overwrite; give the demo a home of its own: "
                "`seamline demo --home NEW_FOLDER`"
            )

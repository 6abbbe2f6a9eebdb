"""A campaign home: the one directory that holds everything of one campaign."""

import os
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
"""The checkout: dbt's project directory."""


@dataclass(frozen=True)
class Home:
    """Paths of a campaign home (DESIGN: landing, quarantine, declared, warehouse.duckdb, exports)."""

    path: Path

    @property
    def landing(self) -> Path:
        return self.path / "landing"

    @property
    def quarantine(self) -> Path:
        return self.path / "quarantine"

    @property
    def declared(self) -> Path:
        return self.path / "declared"

    @property
    def warehouse(self) -> Path:
        return self.path / "warehouse.duckdb"

    @property
    def spark_warehouse(self) -> Path:
        """Where the last Spark build's tables lie: a folder of Parquet files for each mart."""
        return self.path / "spark" / "warehouse"

    @property
    def exports(self) -> Path:
        return self.path / "exports"

    @property
    def staging(self) -> Path:
        """Where landings are written before they are renamed into place."""
        return self.path / "landing" / ".staging"

    def table(self, name: str) -> Path:
        """The folder of a landing table."""
        return self.quarantine if name == "quarantine" else self.landing / name


def find_home(path: Path | None) -> Home:
    """The home named by `--home`, else by $SEAMLINE_HOME, else `home/` in the checkout."""
    chosen = path or os.environ.get("SEAMLINE_HOME") or PROJECT / "home"
    return Home(Path(chosen).expanduser().resolve())

"""`seamline report`: the whole campaign on one HTML page that fetches nothing."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import duckdb
import jinja2

from export.figures import draw as figures
from export.figures.curves import explorer
from export.figures.style import CONFIG
from export.report.dbt_tests import last_tests
from export.report.tables import arms, browser, dropped, findings, notes, quarantined, tiles
from homes.errors import ExportError
from homes.paths import Home
from homes.warehouse import open_warehouse

PAGE = Path(__file__).parent / "assets"
PAGE_CONFIG = {**CONFIG, "background": "transparent", "padding": 4}


def report(home: Home, target: Path) -> str:
    """Write the page of the home's campaign to `target`; returns a line that tells where it is and how large.

    Raises HomeError where nothing is built, ExportError where the warehouse is empty or the file can't be written.
    """
    target = target.expanduser().resolve()
    with open_warehouse(home) as warehouse:
        text = _page(warehouse, home)
    aside = target.with_name(f".{target.name}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(text, encoding="utf-8")
        os.replace(aside, target)
    except OSError as error:
        with suppress(OSError):
            aside.unlink()
        raise ExportError(f"{target}: can't be written ({error.strerror})") from error
    return f"{target}: {target.stat().st_size / 1e6:.1f} MB; open it in a browser, it fetches nothing"


def _page(warehouse: duckdb.DuckDBPyConnection, home: Home) -> str:
    import vl_convert

    drawn = figures.specs(warehouse, {figure.domain for figure in figures.FIGURES})
    curves = explorer(warehouse)
    tables = browser(warehouse, home)
    if not any(table["total"] for table in tables):
        raise ExportError(f"{home.path}: nothing to report; ingest something, then build again")
    payload = {
        "explorer": curves,
        "config": PAGE_CONFIG,
        # the curves are there once, as the explorer's
        "figures": {f.stem: _without_title(spec) for f, spec in drawn.items() if spec and f.stem != "learning_curves"},
        "tables": tables,
    }
    library = vl_convert.javascript_bundle()  # type: ignore[call-arg] # its stubs want the snippet that it does without
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("report.html").render(
        figures=[
            {
                "stem": figure.stem,
                "title": figure.title,
                "about": figure.about,
                "absent": figure.absent,
                "domain": figure.domain,
                "notes": _subtitle(spec) if spec else [],
                "is_drawn": bool(spec),
            }
            for figure, spec in drawn.items()
        ],
        explorer=curves,
        tiles=tiles(warehouse),
        arms=arms(warehouse),
        dropped=dropped(warehouse),
        tests=last_tests(home, warehouse),
        findings=findings(warehouse),
        notes=notes(warehouse),
        quarantined=quarantined(warehouse),
        tables=tables,
        payload=script_json(payload),
        style=(PAGE / "report.css").read_text(encoding="utf-8"),
        script=(PAGE / "report.js").read_text(encoding="utf-8"),
        # no text of the library may end the script element it stands in
        library=library.replace("</script", "<\\/script").replace("<!--", "<\\!--"),
    )


def script_json(value: object) -> str:
    """JSON that can stand inside a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _subtitle(spec: figures.Spec) -> list[str]:
    subtitle = spec["title"].get("subtitle", [])
    return [subtitle] if isinstance(subtitle, str) else subtitle


def _without_title(spec: Mapping[str, object]) -> dict[str, object]:
    """The chart without title and background: the page has its own."""
    return {key: value for key, value in spec.items() if key != "title"} | {"config": PAGE_CONFIG}

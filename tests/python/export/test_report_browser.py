"""The report in a real browser: opened from a file without a network, used by mouse and keyboard, read by axe."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from playwright.sync_api import Page as Tab

from tests.python.support.command import BROWSER, query, seamline

pytestmark = pytest.mark.skipif(not BROWSER, reason="NO CHROMIUM: the report was not tried in a browser")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SLOW = 180_000


@pytest.fixture(scope="module")
def path(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("report") / "campaign report.html"
    seamline("report", target, home=demo)
    return target


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS, timeout=SLOW)
        yield launched
        launched.close()


def opened(browser: Browser, path: Path, **options: object) -> tuple[BrowserContext, Tab, list[str]]:
    """A tab with the page drawn, and what went wrong in it: errors, warnings, anything asked of a network."""
    context = browser.new_context(offline=True, **options)
    context.set_default_timeout(SLOW)
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else wrong.append(asked.url))
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready=yes]")
    return context, tab, wrong


@pytest.fixture(scope="module")
def shared(browser: Browser, path: Path) -> Iterator[tuple[Tab, list[str]]]:
    context, tab, wrong = opened(browser, path, viewport={"width": 1280, "height": 900})
    yield tab, wrong
    context.close()


@pytest.fixture
def tab(shared: tuple[Tab, list[str]]) -> Iterator[Tab]:
    """The page as it was opened; the test may change it, and nothing may go wrong meanwhile."""
    page, wrong = shared
    page.click("#all-arms")
    for name, value in (("along", "training_step"), ("layout", "panels"), ("smooth", "0")):
        page.select_option(f"#{name}", value)
    page.select_option("#table", "0")
    page.fill("#search", "")
    settled(page)
    yield page
    assert wrong == []


def settled(tab: Tab) -> None:
    tab.evaluate("window.showCurves()")


def titles(tab: Tab) -> list[str]:
    return tab.locator("#explorer-chart svg .role-axis-title text").all_text_contents()


def lines(tab: Tab) -> list[str]:
    return [
        d
        for d in tab.locator("#explorer-chart svg .mark-line path").evaluate_all(
            "all => all.map(e => e.getAttribute('d'))"
        )
        if d
    ]


def test_it_opens_from_a_file_without_a_network_and_draws_every_figure(tab, path):
    assert tab.title() == "Campaign report"
    charts = tab.locator(".chart")
    assert charts.count() == 13
    for index in range(13):
        chart = charts.nth(index)
        assert chart.locator("svg").count() == 1
        marks = chart.locator("svg .mark-line path, svg .mark-rect path, svg .mark-rule line, svg .mark-symbol path")
        assert marks.count() > 2, chart.get_attribute("aria-label")
    assert path.stat().st_size < 5_000_000


def test_picking_an_arm_changes_the_plot(tab, demo):
    arms = [
        arm
        for (arm,) in query(
            demo, "select distinct arm from arm_metrics join arms using (arm) where metric = headline_metric order by 1"
        )
    ]
    assert len(lines(tab)) == len(arms) > 1
    tab.locator(".pick input").nth(0).uncheck()
    settled(tab)
    assert len(lines(tab)) == len(arms) - 1
    assert f"{len(arms) - 1} of {len(arms)} arms" in tab.inner_text("#explorer-said")
    headers = tab.locator("#explorer-chart svg text").all_text_contents()
    assert arms[0] not in headers and arms[1] in headers
    tab.click("#no-arms")
    settled(tab)
    assert tab.inner_text("#explorer-said").strip() == "No arm is picked."
    assert not tab.locator("#explorer-chart").is_visible()


def test_the_axis_and_the_layout_can_be_picked(tab):
    drawn = lines(tab)
    assert "training step (from 1)" in titles(tab)
    tab.select_option("#along", "position")
    settled(tab)
    assert "position (as logged)" in titles(tab) and lines(tab) != drawn
    tab.select_option("#along", "hours")
    settled(tab)
    assert "hours since the arm's first step" in titles(tab)
    tab.select_option("#layout", "over")
    settled(tab)
    assert tab.locator("#explorer-chart svg .role-axis-title text").count() == 2
    one = lines(tab)
    tab.select_option("#smooth", "7")
    settled(tab)
    assert len(lines(tab)) == len(one) and lines(tab) != one


def test_hovering_tells_the_value(tab, demo):
    tab.select_option("#layout", "over")
    settled(tab)
    points = tab.locator("#explorer-chart svg .mark-symbol path")
    points.nth(points.count() // 2).hover(force=True)
    tooltip = tab.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    names, values = (tooltip.locator(f"td.{part}").all_text_contents() for part in ("key", "value"))
    told = dict(zip(names, values, strict=True))
    arm, step = told["arm"].replace("'", "''"), int(told["training step"])
    sql = (
        f"select value from arm_metrics where arm = '{arm}' and training_step = {step} and metric = '{told['metric']}'"
    )
    assert float(told["value"]) == pytest.approx(query(demo, sql)[0][0], abs=0.01)


def test_a_search_narrows_a_table(tab, demo):
    names = tab.locator("#table option").all_inner_texts()
    tab.select_option("#table", str([n.split(" ")[0] for n in names].index("runs")))
    arm, count = query(demo, "select arm, count(*) from runs group by arm order by 2 desc, 1 limit 1")[0]
    (total,) = query(demo, "select count(*) from runs")[0]
    body = tab.locator("#table-scroll tbody tr")
    assert body.count() == min(total, 100) > count
    tab.fill("#search", f"{arm}__")
    assert body.count() == count
    assert f"of {count} that match" in tab.inner_text("#table-said")
    tab.fill("#search", "no such thing anywhere")
    assert body.count() == 0 and tab.inner_text("#table-said").startswith("No row that match")


def test_sorting_by_keyboard_and_copying_as_csv(browser, path, demo):
    context, tab, wrong = opened(browser, path, permissions=["clipboard-read", "clipboard-write"])
    button = tab.locator("#table-scroll thead button", has_text="step_count").first
    names = tab.locator("#table-scroll thead button").all_inner_texts()
    column = names.index("step_count")
    tab.locator("#table-scroll thead button").nth(column).focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Enter")
    assert tab.locator("#table-scroll thead th").nth(column).get_attribute("aria-sort") == "descending"
    steps = [int(text) for text in tab.locator(f"#table-scroll tbody td:nth-child({column + 1})").all_inner_texts()]
    assert steps == [s for (s,) in query(demo, "select step_count from arms order by step_count desc")]
    assert button.count() == 1
    tab.click("#copy")
    tab.wait_for_function("document.getElementById('copy').textContent.startsWith('Copied')")
    header, *rows = tab.evaluate("navigator.clipboard.readText()").splitlines()
    assert header.split(",") == names
    assert [int(row.split(",")[column]) for row in rows] == steps
    assert wrong == []
    context.close()


def test_a_table_over_a_page_is_turned_and_says_where_the_rest_is(tab):
    names = [name.split(" ")[0] for name in tab.locator("#table option").all_inner_texts()]
    tab.select_option("#table", str(names.index("arm_metrics")))
    said = tab.inner_text("#table-said")
    assert said.startswith("Rows 1 to 100 of 1,000.") and "first 1,000 of" in said and "by-arm/*.csv" in said
    first = tab.inner_text("#table-scroll tbody tr:first-child")
    tab.click("#next")
    assert tab.inner_text("#table-said").startswith("Rows 101 to 200 of 1,000.")
    assert tab.inner_text("#table-scroll tbody tr:first-child") != first
    assert tab.locator("#previous").is_enabled()


def test_everything_can_be_reached_by_keyboard(tab):
    tab.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    reached = set()
    for _ in range(90):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.id || document.activeElement.getAttribute('href') || ''"))
    assert {"theme", "#tables", "along", "layout", "smooth", "seams", "all-arms", "explorer-chart"} <= reached


def test_axe_finds_nothing_serious_and_nothing_overflows(browser, path):
    context, tab, wrong = opened(browser, path, viewport={"width": 1280, "height": 900})
    for width in (1280, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_timeout(1000)
        settled(tab)
        assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)
            found = Axe().run(tab).response["violations"]
            serious = [
                (scheme, width, v["id"], [n["target"] for n in v["nodes"]][:5])
                for v in found
                if v["impact"] in ("serious", "critical")
            ]
            assert serious == []
    assert wrong == []
    context.close()


def test_colours_follow_the_system_and_the_button(browser, path):
    context, tab, _ = opened(browser, path, color_scheme="dark")

    def background() -> str:
        return tab.evaluate("getComputedStyle(document.body).backgroundColor")

    dark = background()
    label = tab.locator("#explorer-chart .role-axis-label text").first
    assert label.evaluate("e => getComputedStyle(e).fill") == "rgb(232, 234, 237)"
    said = tab.locator("[data-figure=zero_run_calibration] .mark-text.role-mark text").first
    assert said.evaluate("e => getComputedStyle(e).fill") == "rgb(232, 234, 237)"
    tab.click("#theme")
    assert tab.inner_text("#theme") == "Colours: light" and background() == "rgb(255, 255, 255)" != dark
    assert label.evaluate("e => getComputedStyle(e).fill") == "rgb(27, 31, 36)"
    tab.click("#theme")
    assert tab.inner_text("#theme") == "Colours: dark" and background() == dark
    context.close()


def test_it_prints_on_white_without_controls(browser, path):
    context, tab, _ = opened(browser, path, color_scheme="dark")
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not tab.locator("#explorer-controls").is_visible() and not tab.locator("#theme").is_visible()
    assert tab.locator("#explorer-chart svg").is_visible()
    assert (
        tab.locator("#explorer-chart .role-axis-label text").first.evaluate("e => getComputedStyle(e).fill")
        == "rgb(0, 0, 0)"
    )
    context.close()

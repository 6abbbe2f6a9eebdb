"use strict";
// The page's own script: figures, the curves' controls, the table browser, colours. It fetches nothing.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"];
const DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]];
const EMBED = { actions: false, renderer: "svg", ast: true, tooltip: { theme: "custom" } };

// ---- colours of the page
const THEMES = ["system", "light", "dark"];
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let theme = "system";
function showTheme() {
  const dark = theme === "dark" || (theme === "system" && prefersDark.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = "Colours: " + (theme === "system" ? "as the system" : theme);
}
byId("theme").addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  showTheme();
});
prefersDark.addEventListener("change", showTheme);
showTheme();

// ---- figures
// Panels stand in as many columns as the page is wide, and fill it.
const LABELS = 75; // about as wide as the labels of a y-axis
const GAP = 24;
function fitted(spec, width) {
  const copy = structuredClone(spec);
  const fit = (part) => {
    if (part.facet && part.columns) {
      part.columns = Math.max(1, Math.min(part.columns, Math.floor((width - LABELS) / (190 + GAP))));
      const wide = Math.floor((width - LABELS) / part.columns) - GAP;
      part.spec.width = Math.max(150, part.columns === 1 ? Math.min(wide, Math.max(part.spec.width, 420)) : wide);
    } else if (typeof part.width === "number") {
      const most = part.width < 600 ? part.width : Math.max(part.width, 940);
      part.width = Math.max(170, Math.min(most, width - 230));
    }
    (part.vconcat || []).forEach(fit);
  };
  fit(copy);
  return copy;
}
async function draw(element, spec) {
  const result = await vegaEmbed(element, fitted(spec, element.clientWidth), EMBED);
  // the element that holds it says what it shows; its thousands of marks would say nothing more
  element.querySelector("svg").setAttribute("aria-hidden", "true");
  return result.view;
}
const drawn = new Map();
async function drawAll() {
  for (const element of document.querySelectorAll("[data-figure]")) {
    drawn.get(element)?.finalize();
    drawn.set(element, await draw(element, data.figures[element.dataset.figure]));
  }
}

// ---- learning curves
const curves = data.explorer;
let curveView = null;
if (curves) {
  const place = Object.fromEntries(curves.columns.map((name, index) => [name, index]));
  const first = new Map();
  const points = curves.rows.map((row) => {
    const moment = Date.parse(row[place.logged_at]);
    const arm = curves.arms[row[place.arm]];
    if (!(first.get(arm) <= moment)) first.set(arm, moment);
    return {
      arm, metric: curves.metrics[row[place.arm]], run_id: curves.runs[row[place.run_id]],
      training_step: row[place.training_step], position: row[place.position], moment,
      value: row[place.value], is_seam: row[place.is_seam],
    };
  });
  for (const point of points) point.hours = (point.moment - first.get(point.arm)) / 3.6e6;
  const AXES = {
    training_step: "training step (from 1)",
    position: "position (as logged)",
    hours: "hours since the arm's first step",
  };
  const picks = [...document.querySelectorAll("[name=arm]")];
  const colour = (index) => COLOURS[index % COLOURS.length];
  const dash = (index) => DASHES[Math.floor(index / COLOURS.length) % DASHES.length];

  const spec = () => {
    const along = byId("along").value;
    const reach = Number(byId("smooth").value);
    const over = byId("layout").value === "over";
    const arms = picks.filter((pick) => pick.checked).map((pick) => curves.arms[pick.value]);
    const indices = arms.map((arm) => curves.arms.indexOf(arm));
    const metrics = [...new Set(indices.map((index) => curves.metrics[index]))];
    const x = { field: along, type: "quantitative", title: AXES[along], axis: { tickCount: 5 }, scale: { zero: along !== "position" } };
    const y = { field: "drawn", type: "quantitative", title: metrics.length === 1 ? metrics[0] : "headline metric", axis: { tickCount: 5 } };
    const paint = over
      ? {
          color: { field: "arm", type: "nominal", title: "arm", scale: { domain: arms, range: indices.map(colour) }, legend: null },
          strokeDash: { field: "arm", type: "nominal", title: "arm", scale: { domain: arms, range: indices.map(dash) }, legend: null },
        }
      : { color: { value: COLOURS[0] } };
    const tooltip = ["arm", "metric", "training_step", "position", "hours", "value", "run_id"].map((field) => ({
      field, type: ["arm", "metric", "run_id"].includes(field) ? "nominal" : "quantitative",
      title: field.replace("_", " "), ...(field === "hours" ? { format: ".2f" } : {}),
    }));
    const single = arms.filter((arm) => points.filter((p) => p.arm === arm).length === 1).length > 0;
    const layer = [
      { mark: { type: "line", strokeWidth: 1.1, strokeJoin: "round", point: single }, encoding: { x, y, ...paint } },
      {
        params: [{ name: "near", select: { type: "point", on: "pointerover", clear: "pointerout" } }],
        mark: { type: "point", filled: true, size: 90 },
        encoding: { x, y, ...(over ? { color: paint.color } : paint), tooltip,
          opacity: { condition: { param: "near", empty: false, value: 1 }, value: 0 } },
      },
    ];
    if (byId("seams").checked) {
      layer.unshift({
        transform: [{ filter: "datum.is_seam" }],
        mark: { type: "rule", strokeDash: [3, 2], color: "#D55E00", opacity: over ? 0.45 : 1 },
        encoding: { x, ...(over ? { color: paint.color } : {}) },
      });
    }
    const transform = reach
      ? [{ window: [{ op: "mean", field: "value", as: "drawn" }], frame: [-reach, reach], groupby: ["arm"], sort: [{ field: "training_step" }] }]
      : [{ calculate: "datum.value", as: "drawn" }];
    const base = { $schema: "https://vega.github.io/schema/vega-lite/v6.json", config: data.config,
      data: { name: "curves", values: points.filter((point) => arms.includes(point.arm)) }, transform };
    const some = arms.length > 0;
    byId("explorer-said").textContent = some ? `${arms.length} of ${curves.arms.length} arms. ` : "No arm is picked. ";
    if (!some) return null;
    if (over) return { ...base, width: 1000, height: 420, layer };
    const [columns, width, height] = arms.length === 1 ? [1, 640, 300] : arms.length <= 4 ? [2, 400, 200] : [4, 215, 118];
    return { ...base, facet: { field: "arm", type: "nominal", title: null }, columns, spec: { width, height, layer },
      ...(metrics.length > 1 ? { resolve: { scale: { y: "independent" } } } : {}) };
  };

  const show = async () => {
    const chart = byId("explorer-chart");
    curveView?.finalize();
    curveView = null;
    const asked = spec();
    chart.hidden = !asked;
    if (asked) curveView = await draw(chart, asked);
    const over = byId("layout").value === "over";
    for (const [index, pick] of picks.entries()) {
      const swatch = pick.parentElement.querySelector(".swatch");
      swatch.hidden = !over;
      swatch.style.borderTopColor = colour(index);
      swatch.style.borderTopStyle = ["solid", "dashed", "dotted", "double"][Math.floor(index / COLOURS.length) % 4];
    }
  };
  let last = Promise.resolve();
  const changed = () => (last = last.then(show));
  byId("explorer-controls").addEventListener("change", changed);
  byId("explorer-controls").addEventListener("submit", (event) => event.preventDefault());
  for (const [id, value] of [["all-arms", true], ["no-arms", false]]) {
    byId(id).addEventListener("click", () => {
      for (const pick of picks) pick.checked = value;
      changed();
    });
  }
  window.showCurves = changed;
}

let width = document.documentElement.clientWidth;
let waiting = null;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    redraw();
  }, 250);
});
async function redraw() {
  await window.showCurves?.();
  await drawAll();
  document.documentElement.dataset.ready = "yes";
}
redraw();

// ---- table browser
const PAGE_ROWS = 100;
const state = { table: data.tables[0], sort: null, down: false, start: 0, rows: [] };
const isNumber = (type) => /^(bigint|integer|double|hugeint|decimal|smallint|tinyint|number)/.test(type);
const text = (value) => (value === null ? "" : String(value));

function compare(a, b, numeric) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (!numeric) return String(a).localeCompare(String(b));
  const key = (v) => (v === "NaN" ? Number.MAX_VALUE : Number(v));
  return key(a) - key(b);
}
function select() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  state.rows = state.table.rows.filter((row) => {
    const all = row.map(text).join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  });
  if (state.sort !== null) {
    const numeric = isNumber(state.table.columns[state.sort].type);
    const sign = state.down ? -1 : 1;
    // rows without a value stay at the end, whichever way
    state.rows.sort((a, b) => {
      const [left, right] = [a[state.sort], b[state.sort]];
      return left === null || right === null ? compare(left, right, numeric) : sign * compare(left, right, numeric);
    });
  }
}
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
function fill() {
  const { table } = state;
  const header = element("tr", {}, ...table.columns.map((column, index) => {
    const button = element("button", { type: "button", textContent: column.name });
    button.addEventListener("click", () => {
      state.down = state.sort === index && !state.down;
      state.sort = index;
      state.start = 0;
      select();
      fill();
      byId("table-scroll").querySelectorAll("thead button")[index].focus();
    });
    const th = element("th", { scope: "col", className: isNumber(column.type) ? "number" : "" }, button);
    if (state.sort === index) th.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    return th;
  }));
  const shown = state.rows.slice(state.start, state.start + PAGE_ROWS);
  const body = shown.map((row) => element("tr", {}, ...row.map((value, index) =>
    value === null
      ? element("td", { className: isNumber(table.columns[index].type) ? "null number" : "null", textContent: "null" })
      : element("td", {
          className: isNumber(table.columns[index].type) ? "number" : String(value).length > 60 ? "long" : "",
          textContent: text(value),
        }))));
  byId("table-scroll").replaceChildren(element("table", {}, element("thead", {}, header), element("tbody", {}, ...body)));
  const count = (n) => n.toLocaleString("en");
  const few = table.rows.length < table.total
    ? ` This page holds the first ${count(table.rows.length)} of ${count(table.total)} rows; all are in ${table.elsewhere}.` : "";
  const range = state.rows.length
    ? `Rows ${count(state.start + 1)} to ${count(state.start + shown.length)} of ${count(state.rows.length)}` : "No row";
  byId("table-said").textContent = `${range}${state.rows.length < table.rows.length || !state.rows.length ? " that match" : ""}.${few}`;
  byId("previous").disabled = state.start === 0;
  byId("next").disabled = state.start + PAGE_ROWS >= state.rows.length;
}
function open() {
  state.table = data.tables[Number(byId("table").value)];
  Object.assign(state, { sort: null, down: false, start: 0 });
  byId("table-about").textContent = state.table.about;
  byId("table-columns").querySelector("dl").replaceChildren(
    ...state.table.columns.flatMap((c) => [
      element("dt", { textContent: c.name }), element("dd", { textContent: `${c.about} (${c.type})` }),
    ]));
  select();
  fill();
}
function csv() {
  const cell = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const lines = [state.table.columns.map((c) => c.name), ...state.rows];
  return lines.map((row) => row.map((value) => cell(text(value))).join(",")).join("\n") + "\n";
}
async function copy() {
  const copied = csv();
  const button = byId("copy");
  try {
    await navigator.clipboard.writeText(copied);
  } catch {
    // a page from a disk may have no clipboard of its own
    const area = element("textarea", { value: copied });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = `Copied ${state.rows.length.toLocaleString("en")} rows`;
  setTimeout(() => (button.textContent = "Copy as CSV"), 2500);
}
byId("table").addEventListener("change", open);
byId("search").addEventListener("input", () => {
  state.start = 0;
  select();
  fill();
});
byId("browser-controls").addEventListener("submit", (event) => event.preventDefault());
byId("copy").addEventListener("click", copy);
for (const [id, step] of [["previous", -PAGE_ROWS], ["next", PAGE_ROWS]]) {
  byId(id).addEventListener("click", () => {
    state.start += step;
    fill();
  });
}
open();

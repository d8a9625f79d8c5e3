// The panel of one row. What it says of each kind of table is the view's; the parts that all share
// are here.

import { drawCurves } from "./curve_chart.js";
import { loadCurve } from "./data.js";
import { byId, make } from "./dom.js";
import { columnTitle, formatCount, formatExact } from "./format.js";
import { columnOf } from "./model.js";
import { rankOf } from "./pareto.js";

const CURVES = [
  ["train_perf", "valid_perf", "test_perf"],
  ["train_loss", "valid_loss", "test_loss"],
];

/** Returns a line that says why a chosen row is not among the points, if it is not. */
function outNote({ pass, hasPoint }, row) {
  const why = !pass[row]
    ? "Left out by the filters: it is marked by a dashed ring."
    : !hasPoint(row)
      ? "Not in the plot: it has no figure for one of the axes."
      : null;
  return why ? [make("p", { class: "left-out" }, why)] : [];
}

/** Returns what the panel starts with: what is shown and why, and the button that picks it. */
export function heading({ model, row, picked, chosen, title, about }, actions) {
  const best = `Best by ${model.yColumn.name}${model.other ? ` on ${model.upper.name}` : ""}`;
  return [
    make("p", { class: "eyebrow" }, chosen ? actions.view.one : best),
    ...outNote(model, row),
    make(
      "div",
      { class: "title" },
      make("h2", {}, title),
      make("span", { class: "muted" }, about),
      make(
        "button",
        {
          type: "button",
          id: "pick",
          "aria-pressed": String(picked),
          onclick: () => actions.pick(row),
        },
        picked ? "★ Picked" : "☆ Pick",
      ),
    ),
  ];
}

/** Returns a line of code with a button that copies it. */
export function codeLine(text) {
  const copy = make(
    "button",
    {
      type: "button",
      class: "quiet",
      onclick: async () => {
        await navigator.clipboard.writeText(text);
        copy.textContent = "Copied";
      },
    },
    "Copy",
  );
  return make("div", { class: "code-line" }, make("code", {}, text), copy);
}

/** Returns the key of a chart: what each of its lines is, as `[name, hint]`. */
export function chartKey(names) {
  const spans = names.map(([name, hint], index) =>
    make("span", { class: `key-${index}`, title: hint }, name),
  );
  return make("p", { class: "curve-key" }, ...spans);
}

/** Returns the table of some columns of a row, with the rank among all rows. */
export function figures(table, row, columns) {
  const lines = columns.map((column) => {
    const values = table.values(column.name);
    const rank = column.direction ? rankOf(values, row, column.direction) : null;
    return make(
      "tr",
      {},
      make("th", { scope: "row", title: column.description }, columnTitle(column)),
      make("td", { class: "number exact" }, formatExact(values[row])),
      make("td", { class: "number muted" }, rank === null ? "" : `#${formatCount(rank)}`),
    );
  });
  return make(
    "table",
    { class: "figures" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ...["column", "value", "rank"].map((name) =>
          make("th", { scope: "col", class: name === "column" ? null : "number" }, name),
        ),
      ),
    ),
    make("tbody", {}, ...lines),
  );
}

async function showCurves(description, row, place, curveColumns) {
  try {
    const curve = await loadCurve(description, row);
    const charts = CURVES.map((names) => [names, drawCurves(curve, names)]).filter(
      ([, chart]) => chart,
    );
    place.replaceChildren(
      ...charts.flatMap(([names, chart]) => {
        const columns = names.map((name) => columnOf({ columns: curveColumns }, name));
        return [
          chartKey(columns.map((column) => [columnTitle(column), column.description])),
          chart,
        ];
      }),
    );
    if (!charts.length) place.replaceChildren(make("p", { class: "muted" }, "There is no curve."));
  } catch (error) {
    place.replaceChildren(make("p", { class: "muted" }, error.message));
  }
}

/** Returns the section of a row's learning curve, which fills itself; nothing if there are none. */
export function curveSection(table, row, curveColumns) {
  if (!table.curves) return [];
  const place = make("div", { id: "curves" });
  showCurves(table, row, place, curveColumns);
  return [make("h3", {}, "Learning curve", make("small", {}, "each seed, and their mean")), place];
}

/**
 * Shows a row.
 *
 * @param shown `model`, `row`, `picked`, `chosen`: whether a person chose it.
 * @param actions `view`, `focus(key)`, `pick(row)`, `table(name)`, `ring(key, keys)`.
 */
export function showDetails(shown, actions) {
  const { view } = actions;
  const nothing = make("p", { class: "muted" }, `No ${view.one} passes the filters.`);
  const sections = shown.row === null ? [nothing] : view.details(shown, actions);
  byId("details").replaceChildren(...sections);
}

// Learning curves of the picked rows over each other: the mean over seeds of one column.

import { meansOf } from "./curve_chart.js";
import { loadCurve } from "./data.js";
import { make } from "./dom.js";
import { columnTitle, formatCount } from "./format.js";
import { drawLines } from "./line_chart.js";
import { bestFirst, columnOf } from "./model.js";

const MOST = 20;
const STEPS = [0, 0.5, 0.7, 0.8, 0.9, 0.95];

/** Returns a list smoothed: each value with a share of those before, which fades. */
export function smoothed(values, share) {
  let [sum, weight] = [0, 0];
  return Array.from(values, (value) => {
    if (!Number.isFinite(value)) return value;
    sum = share * sum + (1 - share) * value;
    weight = share * weight + (1 - share);
    return sum / weight;
  });
}

function controls({ catalogue, option }, actions) {
  const chosen = option("curve", "valid_perf");
  const select = make(
    "select",
    { "aria-label": "Column", onchange: ({ target }) => actions.option("curve", target.value) },
    ...catalogue.curve_columns.map((column) =>
      make(
        "option",
        { value: column.name, selected: column.name === chosen, title: column.description },
        columnTitle(column),
      ),
    ),
  );
  const log = make("input", {
    type: "checkbox",
    checked: option("log", "0") === "1",
    onchange: ({ target }) => actions.option("log", target.checked ? "1" : "0"),
  });
  const smooth = make(
    "select",
    { "aria-label": "Smoothing", onchange: ({ target }) => actions.option("smooth", target.value) },
    ...STEPS.map((step) =>
      make(
        "option",
        { value: step, selected: String(step) === option("smooth", "0") },
        step ? `smoothed by ${step}` : "not smoothed",
      ),
    ),
  );
  return make(
    "div",
    { class: "pane-controls" },
    select,
    smooth,
    make("label", { class: "tick" }, log, " log scale"),
  );
}

async function linesOf(rows, { model, view, option }) {
  const column = option("curve", "valid_perf");
  const curves = await Promise.all(rows.map((row) => loadCurve(model.table, row)));
  return curves
    .map((curve, place) => {
      const ys = smoothed(meansOf(curve, column), Number(option("smooth", "0")));
      const { title } = view.tooltip(model.table, rows[place]);
      const name = view.nameOf(model.table.keys[rows[place]]);
      return { name, title, row: rows[place], xs: ys.map((_, epoch) => epoch + 1), ys };
    })
    .filter(({ ys }) => ys.length);
}

async function show(place, shown, actions) {
  const { model, pickedRows, focusRow, catalogue, option } = shown;
  const all = bestFirst(model, pickedRows.length ? pickedRows : [focusRow ?? []].flat());
  const rows = all.slice(0, MOST);
  const turn = String(Number(place.dataset.turn ?? 0) + 1);
  place.dataset.turn = turn;
  const lines = await linesOf(rows, shown).catch((error) => error);
  if (place.dataset.turn !== turn || place.dataset.pane !== "curves") return;
  if (lines instanceof Error) {
    place.replaceChildren(make("p", { class: "muted" }, lines.message));
    return;
  }
  const said = [
    pickedRows.length
      ? null
      : "Pick rows to lay their curves over each other; this is the chosen one.",
    all.length > MOST ? `The best ${MOST} of ${formatCount(all.length)} picked.` : null,
    lines.length < rows.length ? `${rows.length - lines.length} without a curve.` : null,
  ].filter(Boolean);
  const column = columnOf({ columns: catalogue.curve_columns }, option("curve", "valid_perf"));
  place.replaceChildren(
    controls(shown, actions),
    ...drawLines(lines, {
      xTitle: "epoch",
      yTitle: column ? columnTitle(column) : "",
      log: option("log", "0") === "1",
      choose: (line) => actions.focus(model.table.keys[lines[line].row]),
    }),
    make("p", { class: "muted" }, ["The mean over seeds.", ...said].join(" ")),
  );
}

export const curvesPane = {
  name: "curves",
  title: "Curves",
  applies: (table) => table.curves,
  show,
};

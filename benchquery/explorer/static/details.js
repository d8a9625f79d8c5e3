// The panel of one architecture: drawing, figures here and on all tables, curve, neighbours.

import { draw, neighbours } from "./architecture.js";
import { drawCurves } from "./curve_chart.js";
import { loadCurve, loadForms, loadTable } from "./data.js";
import { byId, make } from "./dom.js";
import {
  columnTitle,
  formatCount,
  formatExact,
  formatFigure,
  titleOf,
  withUnit,
} from "./format.js";
import { columnOf } from "./model.js";
import { rankOf } from "./pareto.js";

const CURVES = [
  ["train_perf", "valid_perf", "test_perf"],
  ["train_loss", "valid_loss", "test_loss"],
];
const FEW_METRICS = 5;

/** Returns the hashes one change away that a table holds. */
export async function neighboursIn(table, reader, hash) {
  const forms = await loadForms();
  return neighbours(hash, forms, reader.ops.length).filter((other) => table.rowOf.has(other));
}

function figures(table, row) {
  const lines = table.columns
    .filter((column) => column.name !== "hash")
    .map((column) => {
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

/** Shows an architecture's figures on every table, as the tables arrive. */
function acrossTables(catalogue, table, hash, choose) {
  const metrics = table.columns.filter((column) => column.is_metric).slice(0, FEW_METRICS);
  const lines = catalogue.tables.map((description) => {
    const cells = metrics.map(() => make("td", { class: "number" }, "…"));
    const title = titleOf(description.name, description.origin);
    const link = make(
      "button",
      {
        type: "button",
        class: "link",
        title: `show the table ${description.name}`,
        onclick: () => choose(description.name),
      },
      title,
    );
    const current = description.name === table.name;
    const line = make(
      "tr",
      { class: current ? "current" : null },
      make("th", { scope: "row" }, current ? title : link),
      ...cells,
    );
    return { description, cells, line };
  });
  const fill = async () => {
    for (const { description, cells } of lines) {
      const loaded = await loadTable(description).catch(() => null);
      const row = loaded?.rowOf.get(hash);
      metrics.forEach((metric, index) => {
        const value = row === undefined ? undefined : loaded.values(metric.name)?.[row];
        cells[index].textContent = formatFigure(value);
        if (value !== undefined) cells[index].title = formatExact(value);
      });
    }
  };
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, "table"),
    ...metrics.map((metric) =>
      make("th", { scope: "col", class: "number", title: metric.description }, columnTitle(metric)),
    ),
  );
  return {
    element: make(
      "div",
      { class: "scroll" },
      make(
        "table",
        { class: "across" },
        make("thead", {}, head),
        make("tbody", {}, ...lines.map(({ line }) => line)),
      ),
    ),
    fill,
  };
}

/** Returns the operations of a neighbour, those that differ marked. */
function difference(reader, from, to) {
  const before = reader.opsOf(from);
  const sameLink = reader.linkOf(from) === reader.linkOf(to);
  const ops = reader.opsOf(to).map((op, node) => make(op === before[node] ? "span" : "em", {}, op));
  return make(
    "span",
    { class: "ops" },
    ...ops,
    make(sameLink ? "span" : "em", { class: "link-name" }, reader.linkOf(to).name),
  );
}

function neighbourList(model, reader, hash, hashes, focus) {
  const { table, yColumn, yValues } = model;
  const own = yValues[table.rowOf.get(hash)];
  const sign = yColumn.direction === "lower" ? -1 : 1;
  const order = [...hashes].sort(
    (a, b) => sign * (yValues[table.rowOf.get(b)] - yValues[table.rowOf.get(a)]),
  );
  return order.map((other) => {
    const value = yValues[table.rowOf.get(other)];
    const gain = sign * (value - own);
    const mark = gain > 0 ? "▲" : gain < 0 ? "▼" : "=";
    const kind = gain > 0 ? "better" : gain < 0 ? "worse" : "equal";
    return make(
      "li",
      {},
      make(
        "button",
        { type: "button", class: "neighbour", "data-hash": other, onclick: () => focus(other) },
        difference(reader, hash, other),
        make("span", { class: "number", title: withUnit(value, yColumn) }, formatFigure(value)),
        make("span", { class: `gain ${kind}`, "aria-label": kind }, mark),
      ),
    );
  });
}

async function showCurves(description, hash, place, curveColumns) {
  try {
    const curve = await loadCurve(description, hash);
    const charts = CURVES.map((names) => [names, drawCurves(curve, names)]).filter(
      ([, chart]) => chart,
    );
    place.replaceChildren(
      ...charts.flatMap(([names, chart]) => [
        make(
          "p",
          { class: "curve-key" },
          ...names.map((name, index) => {
            const column = columnOf({ columns: curveColumns }, name);
            return make(
              "span",
              { class: `key-${index}`, title: column.description },
              columnTitle(column),
            );
          }),
        ),
        chart,
      ]),
    );
    if (!charts.length)
      place.replaceChildren(
        make("p", { class: "muted" }, "There is no curve of this architecture."),
      );
  } catch (error) {
    place.replaceChildren(make("p", { class: "muted" }, error.message));
  }
}

/**
 * Shows an architecture.
 *
 * @param shown `model`, `catalogue`, `reader`, `row`, `picked`, `chosen`: whether a person chose it.
 * @param actions `focus(hash)`, `pick(row)`, `table(name)`, `neighbours(hash, hashes)`.
 */
export function showDetails({ model, catalogue, reader, row, picked, chosen }, actions) {
  const panel = byId("details");
  if (row === undefined || row === null) {
    panel.replaceChildren(make("p", { class: "muted" }, "No architecture passes the filters."));
    return;
  }
  const { table } = model;
  const hash = table.hashes[row];
  const link = reader.linkOf(hash);
  const across = acrossTables(catalogue, table, hash, actions.table);
  const python = make("code", {}, reader.python(hash));
  const copy = make(
    "button",
    {
      type: "button",
      class: "quiet",
      onclick: async () => {
        await navigator.clipboard.writeText(python.textContent);
        copy.textContent = "Copied";
      },
    },
    "Copy",
  );
  const list = make("ul", { class: "neighbours" });
  const count = make("small", {});
  const sections = [
    make(
      "p",
      { class: "eyebrow" },
      chosen
        ? "Architecture"
        : `Best by ${model.yColumn.name}${model.other ? ` on ${model.upper.name}` : ""}`,
    ),
    make(
      "div",
      { class: "title" },
      make("h2", {}, String(hash).padStart(5, "0")),
      make("span", { class: "muted" }, `link ${link.name} · depth ${link.depth}`),
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
    make("div", { class: "drawing-holder" }, draw(reader, hash)),
    make("div", { class: "code-line" }, python, copy),
    make("h3", {}, `On ${table.name}`),
    figures(table, row),
  ];
  const curves = make("div", { id: "curves" });
  if (table.curves)
    sections.push(
      make("h3", {}, "Learning curve", make("small", {}, "each seed, and their mean")),
      curves,
    );
  sections.push(
    make("h3", {}, "On all tables"),
    across.element,
    make("h3", {}, "Neighbours", count),
    list,
  );
  panel.replaceChildren(...sections);

  across.fill();
  if (table.curves) showCurves(table, hash, curves, catalogue.curve_columns);
  neighboursIn(table, reader, hash).then(
    (hashes) => {
      count.textContent = `${hashes.length} one change away, best ${model.yColumn.name} first`;
      list.replaceChildren(...neighbourList(model, reader, hash, hashes, actions.focus));
      actions.neighbours(hash, hashes);
    },
    (error) => list.replaceChildren(make("li", { class: "muted" }, error.message)),
  );
}

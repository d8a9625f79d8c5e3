// What the panel says of one architecture: drawing, figures here and on all tables, neighbours.

import { draw, neighbours } from "./architecture.js";
import { loadColumns, loadTable } from "../../data.js";
import { codeLine, curveSection, figures, heading } from "../../details.js";
import { make } from "../../dom.js";
import { columnTitle, formatExact, formatFigure, titleOf, withUnit } from "../../format.js";

const FEW_METRICS = 5;

/** Returns the hashes one change away that a table holds. */
async function neighboursIn(table, reader, hash) {
  const forms = (await loadColumns(["kinds", table.kind, "forms"]))("hash");
  return neighbours(hash, forms, reader.ops.length).filter((other) => table.rowOf.has(other));
}

/** Shows an architecture's figures on every table, as the tables arrive. */
function acrossTables(catalogue, table, hash, choose) {
  const metrics = table.columns.filter((column) => column.is_metric).slice(0, FEW_METRICS);
  const others = catalogue.tables.filter(({ kind }) => kind === table.kind);
  const lines = others.map((description) => {
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
      const loaded = await loadTable(description).catch((error) => error);
      if (loaded instanceof Error) {
        cells[0].textContent = "not loaded";
        cells[0].title = loaded.message;
        cells.slice(1).forEach((cell) => cell.replaceChildren());
        continue;
      }
      const row = loaded.rowOf.get(hash);
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

/** Returns the sections of the panel, and loads what arrives later. */
export function architectureDetails({ model, catalogue, reader, row, picked, chosen }, actions) {
  const { table } = model;
  const hash = table.keys[row];
  const link = reader.linkOf(hash);
  const across = acrossTables(catalogue, table, hash, actions.table);
  const list = make("ul", { class: "neighbours" });
  const count = make("small", {});
  across.fill();
  neighboursIn(table, reader, hash).then(
    (hashes) => {
      count.textContent = `${hashes.length} one change away, best ${model.yColumn.name} first`;
      list.replaceChildren(...neighbourList(model, reader, hash, hashes, actions.focus));
      actions.ring(hash, hashes);
    },
    (error) => list.replaceChildren(make("li", { class: "muted" }, error.message)),
  );
  const about = `link ${link.name} · depth ${link.depth}`;
  const columns = table.columns.filter((column) => column.name !== "hash");
  return [
    ...heading(
      { model, row, picked, chosen, title: String(hash).padStart(5, "0"), about },
      actions,
    ),
    make("div", { class: "drawing-holder" }, draw(reader, hash)),
    codeLine(reader.python(hash)),
    make("h3", {}, `On ${table.name}`),
    figures(table, row, columns),
    ...curveSection(table, row, catalogue.curve_columns),
    make("h3", {}, "On all tables"),
    across.element,
    make("h3", {}, "Neighbours", count),
    list,
  ];
}

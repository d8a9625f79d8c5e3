// The lists under the plot: the front, the best, the picked.

import { byId, make } from "./dom.js";
import { columnTitle, formatCount, formatFigure } from "./format.js";
import { bestFirst } from "./model.js";

const MOST_SHOWN = 100;
const NAMES = { front: "Front", best: "All that pass", picked: "Picked" };

/** Returns the rows of a list, best first. */
export function listRows(name, model, pickedRows) {
  const rows = { front: model.front, best: model.rows, picked: pickedRows }[name];
  return bestFirst(model, rows);
}

/** Shows the tabs and the chosen list. */
export function showLists({ state, model, reader, pickedRows, focusRow }, actions) {
  const counts = { front: model.front.length, best: model.rows.length, picked: pickedRows.length };
  const focusedTab = document.activeElement?.dataset.list;
  const select = (name) => actions.list(name);
  byId("tabs").replaceChildren(
    ...Object.entries(NAMES).map(([name, title]) =>
      make(
        "button",
        {
          type: "button",
          role: "tab",
          "data-list": name,
          id: `tab-${name}`,
          "aria-controls": "list-body",
          "aria-selected": String(state.list === name),
          tabindex: state.list === name ? 0 : -1,
          onclick: () => select(name),
          onkeydown: ({ key }) => {
            const names = Object.keys(NAMES);
            const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
            if (step) select(names.at((names.indexOf(name) + step) % names.length));
          },
        },
        `${title} `,
        make("small", {}, formatCount(counts[name])),
      ),
    ),
  );
  if (focusedTab) byId(`tab-${state.list}`).focus();
  byId("list-body").setAttribute("aria-labelledby", `tab-${state.list}`);
  byId("export-what").textContent = `Export ${formatCount(counts[state.list])} as`;
  document.querySelectorAll("[data-format]").forEach((button) => {
    button.disabled = counts[state.list] === 0;
  });
  const rows = listRows(state.list, model, pickedRows);
  byId("list-body").replaceChildren(
    rows.length ? listTable(rows, model, reader, focusRow, actions) : emptyNote(state, model),
  );
}

function emptyNote(state, model) {
  const notes = {
    front: model.directed
      ? "No architecture passes the filters."
      : "There is no front: for one of the axes neither way is better.",
    best: "No architecture passes the filters.",
    picked:
      "Nothing is picked. Shift + click a point, drag a box with Shift, or press Enter in the plot.",
  };
  return make("p", { class: "muted" }, notes[state.list]);
}

function listTable(rows, model, reader, focusRow, actions) {
  const { table, other, upper, xColumn, yColumn, xValues, yValues } = model;
  const metrics = table.columns.filter(
    (column) =>
      column.is_metric && (other || column.name !== yColumn.name) && column.name !== xColumn.name,
  );
  const on = (owner) => (other ? ` on ${owner.name}` : "");
  const head = [
    "hash",
    "operations",
    "link",
    columnTitle(yColumn) + on(upper),
    columnTitle(xColumn) + on(table),
    ...metrics.map((column) => columnTitle(column) + on(table)),
  ];
  const lines = rows.slice(0, MOST_SHOWN).map((row) => {
    const hash = table.hashes[row];
    const numbers = [
      yValues[row],
      xValues[row],
      ...metrics.map((column) => table.values(column.name)[row]),
    ];
    return make(
      "tr",
      { class: row === focusRow ? "current" : null, onclick: () => actions.focus(hash) },
      make(
        "th",
        { scope: "row" },
        make(
          "button",
          { type: "button", class: "link", "data-hash": hash },
          String(hash).padStart(5, "0"),
        ),
      ),
      make("td", {}, reader.opsOf(hash).join(" ")),
      make("td", {}, reader.linkOf(hash).name),
      ...numbers.map((value) => make("td", { class: "number" }, formatFigure(value))),
    );
  });
  const more =
    rows.length > MOST_SHOWN
      ? make(
          "p",
          { class: "muted" },
          `The best ${MOST_SHOWN} of ${formatCount(rows.length)}; an export has all.`,
        )
      : null;
  const title = (name, index) =>
    make("th", { scope: "col", class: index > 2 ? "number" : null }, name);
  return make(
    "div",
    {},
    make(
      "table",
      { class: "list" },
      make("thead", {}, make("tr", {}, ...head.map(title))),
      make("tbody", {}, ...lines),
    ),
    more,
  );
}

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
export function showLists({ state, model, view, pickedRows, focusRow }, actions) {
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
    rows.length ? listTable(rows, model, view, focusRow, actions) : emptyNote(state, model, view),
  );
}

function emptyNote(state, model, view) {
  const nothing = `No ${view.one} passes the filters.`;
  const notes = {
    front: model.directed
      ? nothing
      : "There is no front: for one of the axes neither way is better.",
    best: nothing,
    picked:
      "Nothing is picked. Shift + click a point, drag a box with Shift, or press Enter in the plot.",
  };
  return make("p", { class: "muted" }, notes[state.list]);
}

/** Returns the columns of a list: `name`, its title, and the value of a row. */
function listColumns({ table, other, upper, xColumn, yColumn, xValues, yValues }, headings) {
  const on = (owner) => (other ? ` on ${owner.name}` : "");
  const rest = table.columns.filter(
    (column) =>
      column.is_metric && (other || column.name !== yColumn.name) && column.name !== xColumn.name,
  );
  const named = (column, owner, values) => ({
    name: column.name,
    title: columnTitle(column) + on(owner),
    values,
  });
  return [
    named(yColumn, upper, yValues),
    named(xColumn, table, xValues),
    ...rest.map((column) => named(column, table, table.values(column.name))),
  ].filter(({ name }) => !headings.includes(name));
}

function listTable(rows, model, view, focusRow, actions) {
  const { table } = model;
  const headings = view.headings(table);
  const columns = listColumns(model, headings);
  const head = [...headings, ...columns.map(({ title }) => title)];
  const lines = rows.slice(0, MOST_SHOWN).map((row) => {
    const key = table.keys[row];
    return make(
      "tr",
      { class: row === focusRow ? "current" : null, onclick: () => actions.focus(key) },
      make(
        "th",
        { scope: "row" },
        make("button", { type: "button", class: "link", "data-hash": key }, view.nameOf(key)),
      ),
      ...view.cells(table, row).map((text) => make("td", {}, text)),
      ...columns.map(({ values }) => make("td", { class: "number" }, formatFigure(values[row]))),
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
    make("th", { scope: "col", class: index >= headings.length ? "number" : null }, name);
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

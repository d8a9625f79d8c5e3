// The lists under the plot: the front, the best, the picked, what was searched for. Each can be
// sorted by any of its columns.

import { byId, make } from "./dom.js";
import { columnTitle, formatCount, formatFigure } from "./format.js";
import { bestFirst } from "./model.js";

const MOST_SHOWN = 100;
const NAMES = { front: "Front", best: "All that pass", picked: "Picked", found: "Found" };

/** Compares two values; those that are missing come last whichever way is asked for. */
function compare(a, b, sign) {
  const [noA, noB] = [a, b].map((value) => value === null || Number.isNaN(value));
  if (noA || noB) return Number(noA) - Number(noB);
  return a < b ? -sign : a > b ? sign : 0;
}

/** Returns the column and the sign that a state sorts by, or null for the best first. */
function sortOf({ sort }, columns) {
  if (!sort) return null;
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ""));
  return column ? { column, sign: sort.startsWith("-") ? -1 : 1 } : null;
}

/**
 * Returns the rows of the list that is shown, in its order.
 *
 * @param shown `state`, `model`, `view`, `pickedRows`, `foundRows`.
 */
export function listRows({ state, model, view, pickedRows, foundRows }) {
  const rows = {
    front: model.front,
    best: model.rows,
    picked: pickedRows,
    found: foundRows,
  }[state.list];
  const best = bestFirst(model, rows);
  const sort = sortOf(state, listColumns(model, view));
  if (!sort) return best;
  const values = new Map(best.map((row) => [row, sort.column.valueOf(row)]));
  return best.sort((a, b) => compare(values.get(a), values.get(b), sort.sign));
}

/** Shows the tabs and the chosen list. */
export function showLists(shown, actions) {
  const { state, model, view, pickedRows, foundRows, focusRow } = shown;
  const counts = {
    front: model.front.length,
    best: model.rows.length,
    picked: pickedRows.length,
    found: foundRows.length,
  };
  const names = Object.keys(NAMES).filter((name) => name !== "found" || state.find);
  const focusedTab = document.activeElement?.dataset.list;
  const sortedBy = document.activeElement?.dataset.sort;
  const select = (name) => actions.list(name);
  byId("tabs").replaceChildren(
    ...names.map((name) =>
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
            const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
            if (step) select(names.at((names.indexOf(name) + step) % names.length));
          },
        },
        `${NAMES[name]} `,
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
  const rows = listRows(shown);
  byId("list-body").replaceChildren(
    rows.length ? listTable(rows, shown, actions) : emptyNote(state, model, view),
  );
  if (sortedBy)
    byId("list-body")
      .querySelector(`[data-sort="${CSS.escape(sortedBy)}"]`)
      ?.focus();
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
    found: `No ${view.one} is named “${state.find}”.`,
  };
  return make("p", { class: "muted" }, notes[state.list]);
}

/** Returns the columns of a list: `name`, `title`, `valueOf(row)`, and whether it is a figure. */
function listColumns(model, view) {
  const { table, other, upper, xColumn, yColumn, xValues, yValues } = model;
  const headings = view.headings(table);
  const naming = headings.map((name, place) => ({
    name,
    title: name,
    isFigure: false,
    valueOf: (row) => (place ? view.cells(table, row)[place - 1] : table.keys[row]),
  }));
  const on = (owner) => (other ? ` on ${owner.name}` : "");
  const rest = table.columns.filter(
    (column) =>
      column.is_metric && (other || column.name !== yColumn.name) && column.name !== xColumn.name,
  );
  const figure = (column, owner, values) => ({
    name: owner === table ? column.name : `${column.name}@${owner.name}`,
    title: columnTitle(column) + on(owner),
    isFigure: true,
    valueOf: (row) => values[row],
  });
  return [
    ...naming,
    ...[
      figure(yColumn, upper, yValues),
      figure(xColumn, table, xValues),
      ...rest.map((column) => figure(column, table, table.values(column.name))),
    ].filter(({ name }) => !headings.includes(name)),
  ];
}

/** Returns the heading of a column: a button that sorts by it, then the other way, then no more. */
function headingOf({ name, title, isFigure }, state, actions) {
  const [first, second] = isFigure ? [`-${name}`, name] : [name, `-${name}`];
  const next = { [first]: second, [second]: null }[state.sort];
  const now = { [name]: "ascending", [`-${name}`]: "descending" }[state.sort];
  return make(
    "th",
    { scope: "col", class: isFigure ? "number" : null, "aria-sort": now ?? null },
    make(
      "button",
      {
        type: "button",
        class: "sort",
        "data-sort": name,
        title: `sort by ${title}`,
        onclick: () => actions.sort(next === undefined ? first : next),
      },
      title,
      { ascending: " ▲", descending: " ▼" }[now] ?? "",
    ),
  );
}

function listTable(rows, { state, model, view, focusRow }, actions) {
  const { table } = model;
  const columns = listColumns(model, view);
  const figures = columns.filter(({ isFigure }) => isFigure);
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
      ...figures.map(({ valueOf }) => make("td", { class: "number" }, formatFigure(valueOf(row)))),
    );
  });
  const more =
    rows.length > MOST_SHOWN
      ? make(
          "p",
          { class: "muted" },
          `The first ${MOST_SHOWN} of ${formatCount(rows.length)}; an export has all.`,
        )
      : null;
  return make(
    "div",
    {},
    make(
      "table",
      { class: "list" },
      make("thead", {}, make("tr", {}, ...columns.map((one) => headingOf(one, state, actions)))),
      make("tbody", {}, ...lines),
    ),
    more,
  );
}

// Picked rows side by side: what is the same of all, and what is not.

import { make } from "./dom.js";
import { columnTitle, formatCount, formatExact } from "./format.js";
import { bestFirst } from "./model.js";
import { costs } from "./pareto.js";

const MOST = 8;

/** Returns the lines: a title, the text of each row, and which of them are best. */
function linesOf(rows, { model, view }) {
  const { table } = model;
  const headings = view.headings(table);
  const naming = headings.map((title, place) => ({
    title,
    texts: rows.map((row) =>
      place ? view.cells(table, row)[place - 1] : view.nameOf(table.keys[row]),
    ),
    best: [],
    isKey: place === 0,
  }));
  const figures = table.columns
    .filter(({ name }) => !headings.includes(name) && !table.key.includes(name))
    .map((column) => {
      const values = table.values(column.name);
      const own = rows.map((row) => values[row]);
      const prices = column.direction ? Array.from(costs(own, column.direction)) : [];
      const known = prices.filter(Number.isFinite);
      return {
        title: columnTitle(column),
        hint: column.description,
        texts: own.map(formatExact),
        best: prices.map((price) => price === Math.min(...known)),
        isFigure: column.is_metric,
      };
    });
  return [...naming, ...figures];
}

const differs = ({ texts }) => new Set(texts).size > 1;

function tableOf(lines, rows, { model }, actions) {
  const cell = ({ best, isFigure, isKey }, text, place) => {
    const content = isKey
      ? make(
          "button",
          {
            type: "button",
            class: "link",
            onclick: () => actions.focus(model.table.keys[rows[place]]),
          },
          text,
        )
      : best[place]
        ? make("b", {}, text)
        : text;
    return make("td", { class: isFigure ? "number exact" : null }, content);
  };
  const body = lines.map((line) =>
    make(
      "tr",
      { class: differs(line) ? "differs" : "same" },
      make("th", { scope: "row", title: line.hint }, line.title),
      ...line.texts.map((text, place) => cell(line, text, place)),
    ),
  );
  return make("table", { class: "difference" }, make("tbody", {}, ...body));
}

function show(place, shown, actions) {
  const { model, pickedRows, option } = shown;
  if (pickedRows.length < 2) {
    place.replaceChildren(
      make("p", { class: "muted" }, "Pick two rows or more to see them side by side."),
    );
    return;
  }
  const rows = bestFirst(model, pickedRows).slice(0, MOST);
  const only = option("only", "0") === "1";
  const all = linesOf(rows, shown);
  const lines = all.filter((line) => !only || differs(line));
  const same = all.filter((line) => !differs(line)).length;
  const box = make("input", {
    type: "checkbox",
    checked: only,
    onchange: ({ target }) => actions.option("only", target.checked ? "1" : "0"),
  });
  const of =
    pickedRows.length > MOST
      ? `The best ${MOST} of ${formatCount(pickedRows.length)} picked. `
      : "";
  place.replaceChildren(
    make(
      "div",
      { class: "pane-controls" },
      make("label", { class: "tick" }, box, " only what differs"),
      make("span", { class: "muted" }, `${of}${same} of ${all.length} are the same for all.`),
    ),
    make(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Picked rows side by side" },
      tableOf(lines, rows, shown, actions),
    ),
  );
}

export const differencePane = {
  name: "difference",
  title: "Difference",
  applies: () => true,
  isTable: true,
  show,
};

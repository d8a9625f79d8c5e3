// What is said of one point: beside it, and to those who listen.

import { byId, make } from "./dom.js";
import { withUnit } from "./format.js";

/** Returns the title of a row and its facts as `[name, text]`, the figures of the axes last. */
function saidOf(row, { model, view }) {
  const { title, facts } = view.tooltip(model.table, row);
  const figure = (column, value, table) => [
    column.name + (model.other ? ` on ${table.name}` : ""),
    withUnit(value, column),
  ];
  return {
    title,
    facts: [
      ...facts,
      figure(model.yColumn, model.yValues[row], model.upper),
      figure(model.xColumn, model.xValues[row], model.table),
    ],
  };
}

/** Shows what there is to say of a row beside a place of the plot. */
export function showTooltip(row, [x, y], shown) {
  const tooltip = byId("tooltip");
  const { title, facts } = saidOf(row, shown);
  tooltip.replaceChildren(
    make("strong", {}, title),
    ...facts.map(([name, text]) => make("div", {}, make("span", {}, name), make("b", {}, text))),
  );
  tooltip.hidden = false;
  const { clientWidth, clientHeight } = tooltip.parentElement;
  const flips = x + 14 + tooltip.offsetWidth > clientWidth;
  const left = flips ? Math.max(4, x - 14 - tooltip.offsetWidth) : x + 14;
  const top = Math.max(4, Math.min(y - 20, clientHeight - tooltip.offsetHeight - 4));
  Object.assign(tooltip.style, { left: `${left}px`, top: `${top}px` });
}

/** Hides it. */
export function hideTooltip() {
  byId("tooltip").hidden = true;
}

/** Tells those who listen which row was reached. */
export function announce(row, shown) {
  const { title, facts } = saidOf(row, shown);
  byId("announced").textContent = [title, ...facts.map((fact) => fact.join(" "))].join(", ");
}

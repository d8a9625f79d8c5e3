// The choices above the plot: table, axes, colour; and the ticks beside it.

import { byId, setOptions } from "./dom.js";
import { capitalised, columnTitle, titleOf } from "./format.js";

/** The ticks that are part of the state. */
export const TICKS = ["front", "xlog", "ylog"];

/** Shows what a state chose. */
export function showChoices(state, catalogue) {
  const tableNamed = (name) => catalogue.tables.find((table) => table.name === name);
  const table = tableNamed(state.table);
  const upper = tableNamed(state.other) ?? table;
  const view = catalogue.viewOf(state.table);
  const metrics = (owner) =>
    owner.columns
      .filter((column) => column.is_metric)
      .map((column) => [column.name, columnTitle(column)]);
  const named = (kind) =>
    catalogue.tables
      .filter((entry) => entry.kind === kind)
      .map(({ name, origin }) => [name, titleOf(name, origin)]);
  const groups = catalogue.kinds.map(({ name, many }) => [capitalised(many), named(name)]);
  const others = named(table.kind).filter(([name]) => name !== state.table);
  setOptions(byId("table"), groups, state.table);
  setOptions(byId("x"), metrics(table), state.x);
  setOptions(byId("y"), metrics(upper), state.y);
  setOptions(byId("other"), [["", "nothing"], ...others], state.other);
  setOptions(byId("colour"), view.colours(table, metrics(table)), state.colour);
  byId("compare").hidden = !view.comparable;
  byId("ringed").textContent = view.ringed;
  byId("ringed").parentElement.hidden = view.ringed === null;
  byId("find").placeholder = `Find ${view.findHint}`;
  if (byId("find").value !== state.find) byId("find").value = state.find;
  for (const key of TICKS) byId(key).checked = state[key];
  byId("reset-view").hidden = state.view === null;
}

// Panes: ways to look at a table, of which one is shown. A pane has
//   name, title       what the address and the tab call it
//   withPlot          whether the plot stays in sight above it
//   isTable           whether it is no drawing, so that it can't be saved as a picture
//   applies(table)    whether it has anything to show of a table
//   show(place, shown, actions)    fills an element; called again whenever what is shown changes
// `shown` has `catalogue`, `state`, `model`, `view`, `colours`, `focusRow`, `pickedRows` and
// `option(name, usual)`: what a person chose in this pane. `actions` has `focus(key)`,
// `set(patch)`, `option(name, value)` and `trail(rows, best)`, which marks rows in the plot.
// Kinds add their own by `view.panes`.

import { curvesPane } from "./pane_curves.js";
import { differencePane } from "./pane_difference.js";
import { parallelPane } from "./pane_parallel.js";
import { byId, make } from "./dom.js";

const SCATTER = { name: "scatter", title: "Scatter", withPlot: true, applies: () => true };
const SHARED = [SCATTER, parallelPane, curvesPane, differencePane];

function panesOf(view, table) {
  return [...SHARED, ...view.panes].filter((pane) => pane.applies(table));
}

/** Returns the pane of a state; the plot if the table has no such pane. */
export function paneOf({ pane }, view, table) {
  return panesOf(view, table).find(({ name }) => name === pane) ?? SCATTER;
}

function tab({ name, title }, isChosen, step, choose) {
  return make(
    "button",
    {
      type: "button",
      role: "tab",
      id: `pane-tab-${name}`,
      "data-pane": name,
      "aria-controls": "pane-body",
      "aria-selected": String(isChosen),
      tabindex: isChosen ? 0 : -1,
      onclick: () => choose(name),
      onkeydown: ({ key }) => {
        const way = { ArrowRight: 1, ArrowLeft: -1 }[key];
        if (way) choose(step(name, way));
      },
    },
    title,
  );
}

/** Shows the tabs and the chosen pane. */
export function showPane(shown, actions) {
  const { state, view, model } = shown;
  const panes = panesOf(view, model.table);
  const chosen = paneOf(state, view, model.table);
  const step = (name, way) => {
    const place = panes.findIndex((pane) => pane.name === name);
    return panes.at((place + way) % panes.length).name;
  };
  const choose = (name) => actions.set({ pane: name });
  const isFocused = document.activeElement?.dataset.pane !== undefined;
  byId("pane-tabs").replaceChildren(
    ...panes.map((pane) => tab(pane, pane === chosen, step, choose)),
  );
  if (isFocused) byId(`pane-tab-${chosen.name}`).focus();
  byId("pane-body").setAttribute("aria-labelledby", `pane-tab-${chosen.name}`);
  byId("scatter-pane").hidden = !chosen.withPlot;
  const place = byId("other-pane");
  place.hidden = !chosen.show;
  byId("save-view").hidden = chosen.isTable === true;
  if (place.dataset.pane !== chosen.name) place.replaceChildren();
  place.dataset.pane = chosen.name;
  chosen.show?.(place, shown, actions);
}

// The panel of filters: operations, links, depth, ranges of metrics.

import { drawLink } from "./architecture.js";
import { byId, make } from "./dom.js";
import { columnTitle, formatFigure } from "./format.js";
import { createHistogram, extent } from "./histogram.js";

const NEXT_USE = { undefined: "with", with: "without", without: undefined };
const USE_SIGN = { undefined: "", with: "✓ ", without: "✕ " };
const USE_TEXT = { undefined: "may use", with: "must use", without: "must not use" };

/** Returns a list without a value that it has, or with one that it lacks. */
function toggled(list, value) {
  return list.includes(value) ? list.filter((entry) => entry !== value) : [...list, value];
}

/** Returns a record without what is undefined. */
function compact(record) {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** Tells whether a state filters at all. */
export function isFiltered(state) {
  return Boolean(
    Object.keys(state.ops).length +
    state.droppedLinks.length +
    state.droppedDepths.length +
    Object.keys(state.ranges).length,
  );
}

function opButtons(state, reader, set) {
  return reader.ops.map((op) => {
    const use = state.ops[op];
    return make(
      "button",
      {
        type: "button",
        class: `chip use-${use ?? "any"}`,
        "data-key": `op-${op}`,
        "aria-label": `${op}: ${USE_TEXT[use]}`,
        title: `${USE_TEXT[use]} ${op}; press to change`,
        onclick: () => set({ ops: compact({ ...state.ops, [op]: NEXT_USE[use] }) }),
      },
      USE_SIGN[use] + op,
    );
  });
}

function linkButtons(state, reader, set) {
  return reader.links.map((link) => {
    const kept = !state.droppedLinks.includes(link.name);
    return make(
      "button",
      {
        type: "button",
        class: "chip link-chip",
        "data-key": `link-${link.name}`,
        "aria-pressed": String(kept),
        "aria-label": `link ${link.name}`,
        title: `link ${link.name}, depth ${link.depth}`,
        onclick: () => set({ droppedLinks: toggled(state.droppedLinks, link.name) }),
      },
      drawLink(link),
      make("span", {}, link.name),
    );
  });
}

function depthButtons(state, reader, set) {
  const depths = [...new Set(reader.links.map((link) => link.depth))].sort();
  return depths.map((depth) =>
    make(
      "button",
      {
        type: "button",
        class: "chip",
        "data-key": `depth-${depth}`,
        "aria-pressed": String(!state.droppedDepths.includes(depth)),
        "aria-label": `depth ${depth}`,
        onclick: () => set({ droppedDepths: toggled(state.droppedDepths, depth) }),
      },
      String(depth),
    ),
  );
}

function rangeField(state, table, column, set) {
  const range = state.ranges[column.name];
  const values = table.values(column.name);
  const limits = extent(values);
  const choose = (next) => {
    const given = next.some((bound) => bound !== null) ? next : undefined;
    set({ ranges: compact({ ...state.ranges, [column.name]: given }) });
  };
  const input = (side, word) =>
    make("input", {
      type: "number",
      step: "any",
      "data-key": `${word}-${column.name}`,
      "aria-label": `${column.name} ${word}`,
      placeholder: formatFigure(limits[side]),
      value: range?.[side] ?? null,
      onchange: ({ target }) => {
        const bound = target.value === "" ? null : target.valueAsNumber;
        choose((range ?? [null, null]).with(side, Number.isFinite(bound) ? bound : null));
      },
    });
  return make(
    "div",
    { class: "range" },
    make("div", { class: "range-title", title: column.description }, columnTitle(column)),
    createHistogram(values, range, choose),
    make(
      "div",
      { class: "range-inputs" },
      input(0, "at least"),
      make("span", {}, "to"),
      input(1, "at most"),
    ),
  );
}

/** Shows the filters of a state; `set` takes what to change. The focused field stays focused. */
export function showFilters(state, table, reader, set) {
  const body = byId("filter-body");
  const focused = body.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const clear = { ops: {}, droppedLinks: [], droppedDepths: [], ranges: {} };
  const group = (title, hint, className, children) =>
    make(
      "fieldset",
      {},
      make("legend", {}, title, hint && make("small", {}, hint)),
      make("div", { class: className }, children),
    );
  body.replaceChildren(
    group("Operations", "✓ must use, ✕ must not", "chips", opButtons(state, reader, set)),
    group("Links", "press to leave out", "chips links", linkButtons(state, reader, set)),
    group("Depth", "press to leave out", "chips depths", depthButtons(state, reader, set)),
    group(
      "Metrics",
      "drag, or type",
      "ranges",
      table.columns
        .filter((column) => column.is_metric)
        .map((column) => rangeField(state, table, column, set)),
    ),
    make(
      "button",
      {
        type: "button",
        class: "wide",
        "data-key": "clear",
        disabled: !isFiltered(state),
        onclick: () => set(clear),
      },
      "Clear all filters",
    ),
  );
  if (focused) body.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

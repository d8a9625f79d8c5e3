// The panel of filters: what rows use, values to choose among, ranges of metrics.

import { byId, make } from "./dom.js";
import { isFiltered } from "./filters.js";
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

function useButtons(state, view, set) {
  return view.uses.map((name) => {
    const use = state.uses[name];
    return make(
      "button",
      {
        type: "button",
        class: `chip use-${use ?? "any"}`,
        "data-key": `use-${name}`,
        "aria-label": `${name}: ${USE_TEXT[use]}`,
        title: `${USE_TEXT[use]} ${name}; press to change`,
        onclick: () => set({ uses: compact({ ...state.uses, [name]: NEXT_USE[use] }) }),
      },
      USE_SIGN[use] + name,
    );
  });
}

/** Returns the state's left out values with a choice changed: toggled, or all but one left out. */
function choose(state, { name, values }, value, only) {
  const before = state.dropped[name] ?? [];
  const after = only ? values.filter((other) => other !== value) : toggled(before, value);
  return { dropped: compact({ ...state.dropped, [name]: after.length ? after : undefined }) };
}

function choiceButtons(state, choice, set) {
  const { name, values, content, hint } = choice;
  return values.map((value) =>
    make(
      "button",
      {
        type: "button",
        class: content ? "chip picture-chip" : "chip",
        "data-key": `${name}-${value}`,
        "aria-pressed": String(!state.dropped[name]?.includes(value)),
        "aria-label": `${name} ${value}`,
        title: `${hint ? hint(value) : `${name} ${value}`}; with Shift, only this`,
        onclick: ({ shiftKey }) => set(choose(state, choice, value, shiftKey)),
      },
      ...(content ? content(value) : [value]),
    ),
  );
}

function rangeField(state, { table, passesOthers }, column, set) {
  const range = state.ranges[column.name];
  const values = table.values(column.name);
  const limits = extent(values);
  const limit = (next) => {
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
        limit((range ?? [null, null]).with(side, Number.isFinite(bound) ? bound : null));
      },
    });
  const { svg, scale } = createHistogram(values, passesOthers(column.name), range, limit);
  return make(
    "div",
    { class: "range" },
    make(
      "div",
      { class: "range-title", title: column.description },
      columnTitle(column),
      make("small", {}, scale),
    ),
    svg,
    make(
      "div",
      { class: "range-inputs" },
      input(0, "at least"),
      make("span", {}, "to"),
      input(1, "at most"),
    ),
  );
}

/** Returns the metrics that a range makes sense for: those that vary and are no choice. */
function rangedColumns(state, table, choices) {
  const chosen = choices.map(({ name }) => name);
  return table.columns.filter(({ name, is_metric: isMetric }) => {
    if (!isMetric || chosen.includes(name)) return false;
    const [low, high] = extent(table.values(name));
    return (low < high && table.values(name).some(Number.isFinite)) || state.ranges[name];
  });
}

/** Shows the filters of a state; `set` takes what to change. The focused field stays focused. */
export function showFilters(state, model, view, set) {
  const { table } = model;
  const body = byId("filter-body");
  const focused = body.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const clear = { uses: {}, dropped: {}, ranges: {} };
  const group = (title, hint, className, children) =>
    make(
      "fieldset",
      {},
      make("legend", {}, title, hint && make("small", {}, hint)),
      make("div", { class: className }, children),
    );
  const choices = view.choices(table);
  const uses = view.uses.length
    ? [group(view.usesTitle, "✓ must use, ✕ must not", "chips", useButtons(state, view, set))]
    : [];
  body.replaceChildren(
    ...uses,
    ...choices
      .filter(({ values }) => values.length > 1)
      .map((choice) =>
        group(
          choice.title,
          "press to leave out",
          `chips chips-${choice.name}`,
          choiceButtons(state, choice, set),
        ),
      ),
    group(
      "Metrics",
      "drag, or type",
      "ranges",
      rangedColumns(state, table, choices).map((column) => rangeField(state, model, column, set)),
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

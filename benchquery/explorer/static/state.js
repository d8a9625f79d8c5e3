// The state of the view, and its form in the address, so that a view can be shared.

import { packRows, unpackRows } from "./picks.js";

const MOST_NAMED = 300;
const LONGEST_PACKED = 30_000;

/** Returns the view of a table that a newcomer sees. */
export function startState(catalogue, name = catalogue.start) {
  return {
    table: name,
    other: "",
    xlog: false,
    ylog: false,
    front: true,
    uses: {},
    dropped: {},
    ranges: {},
    picked: [],
    packed: null,
    focus: null,
    view: null,
    sort: null,
    find: "",
    pane: "scatter",
    options: {},
    ...catalogue.viewOf(name).start(tableOf(catalogue, name), metricsOf(catalogue, name)),
  };
}

const tableOf = (catalogue, name) => catalogue.tables.find((table) => table.name === name);

/** Returns the names of a table's metrics. */
function metricsOf(catalogue, name) {
  const { columns } = tableOf(catalogue, name);
  return columns.filter((column) => column.is_metric).map((column) => column.name);
}

/** Returns the names of what the points of a table can be coloured by. */
function coloursOf(catalogue, name) {
  const metrics = metricsOf(catalogue, name).map((metric) => [metric, metric]);
  const options = catalogue.viewOf(name).colours(tableOf(catalogue, name), metrics);
  return options.map(([value]) => value);
}

/**
 * Returns the same view of another table: what both have stays, ranges of metrics do not. A table
 * of another kind starts anew.
 */
export function moveTo(state, catalogue, name) {
  const start = startState(catalogue, name);
  if (catalogue.viewOf(name) !== catalogue.viewOf(state.table)) return start;
  const metrics = metricsOf(catalogue, name);
  const kept = (key, allowed) => (allowed.includes(state[key]) ? state[key] : start[key]);
  return {
    ...state,
    table: name,
    other: "",
    x: state.other ? start.x : kept("x", metrics),
    y: kept("y", metrics),
    colour: kept("colour", coloursOf(catalogue, name)),
    ranges: {},
    view: null,
    packed: null,
    sort: null,
  };
}

/** Returns a view that sets two tables against each other, by the metric that is shown if both have it. */
export function compareWith(state, catalogue, other) {
  const y = metricsOf(catalogue, other).includes(state.y)
    ? state.y
    : startState(catalogue, other).y;
  const x = metricsOf(catalogue, state.table).includes(y) ? y : state.x;
  return { ...state, other, x, y, view: null };
}

/**
 * Holds a state; tells its listeners when it changes, and by what sort of step: one with `joins`
 * goes on with the step before if that had the same word there, and one that `replaces` is none.
 */
export function createStore(state) {
  const listeners = [];
  return {
    get: () => state,
    set(patch, step = {}) {
      state = { ...state, ...patch };
      for (const listen of listeners) listen(state, step);
    },
    listen: (listener) => listeners.push(listener),
  };
}

const text = (number) => (number === null ? "" : String(number));
const joined = (values) => values.map(encodeURIComponent).join(",");

/** Returns the texts of a list in an address; what was never written by `joined` is left out. */
function list(value) {
  return (value ? value.split(",") : []).flatMap((part) => {
    try {
      return [decodeURIComponent(part)];
    } catch {
      return [];
    }
  });
}

/**
 * Returns what an address says of the picked rows: their names if they are few, else a bit for each
 * row of the table and what tells that table from others. Too many are not said.
 */
function pickedParams({ picked, packed }, { stamp, rows }, rowOf) {
  if (packed) return { picks: packed };
  if (picked.length <= MOST_NAMED) return picked.length ? { picked: joined(picked) } : {};
  const bits = packRows(picked.map((key) => rowOf.get(key)).filter(Number.isInteger), rows);
  return bits.length > LONGEST_PACKED ? {} : { picks: `${stamp}.${bits}` };
}

/** Tells whether an address has no room for the picked rows. */
export function isTooMuch({ picked }, { rows }) {
  return picked.length > MOST_NAMED && rows / 6 > LONGEST_PACKED;
}

/** Returns the keys of rows that an address packed; null if they are those of another table. */
export function unpackPicks(packed, { stamp, keys }) {
  const [made, bits] = packed.split(".");
  const rows = made === stamp ? unpackRows(bits ?? "", keys.length) : null;
  return rows && rows.map((row) => keys[row]);
}

/**
 * Returns a state as the fragment of an address; what is as at the start is left out.
 *
 * @param rowOf From a key to its row, of the state's table.
 */
export function toFragment(state, catalogue, rowOf) {
  const start = startState(catalogue, state.table);
  const params = new URLSearchParams({ table: state.table });
  for (const key of ["x", "y", "other", "colour", "list", "pane", "find", "sort"]) {
    if (state[key] !== start[key]) params.set(key, state[key]);
  }
  for (const key of ["xlog", "ylog", "front"]) {
    if (state[key] !== start[key]) params.set(key, state[key] ? "1" : "0");
  }
  for (const use of ["with", "without"]) {
    const names = Object.keys(state.uses).filter((name) => state.uses[name] === use);
    if (names.length) params.set(use, joined(names));
  }
  for (const [name, values] of Object.entries(state.dropped)) {
    params.set(`no.${name}`, joined(values));
  }
  for (const [name, range] of Object.entries(state.ranges)) {
    params.set(`range.${name}`, range.map(text).join("~"));
  }
  for (const [name, value] of Object.entries(state.options)) params.set(`o.${name}`, value);
  for (const [name, value] of Object.entries(
    pickedParams(state, tableOf(catalogue, state.table), rowOf),
  )) {
    params.set(name, value);
  }
  if (state.focus !== null) params.set("focus", joined([state.focus]));
  if (state.view) params.set("view", state.view.map((part) => part.toPrecision(6)).join("~"));
  return `#${params.toString().replaceAll("%2C", ",").replaceAll("%7E", "~")}`;
}

/** Returns the name of a table that an address asks for and that is not there, or null. */
export function missingTable(fragment, catalogue) {
  const name = new URLSearchParams(fragment.replace(/^#/, "")).get("table");
  return name === null || tableOf(catalogue, name) ? null : name;
}

/** Returns the part of the plot in an address; those of earlier versions have one factor. */
function readPart(numbers) {
  if (!numbers.every(Number.isFinite)) return null;
  if (numbers.length === 3) {
    const [factor, x, y] = numbers;
    return factor > 1 ? [-x / factor, (1 - x) / factor, -y / factor, (1 - y) / factor] : null;
  }
  const [left, right, top, bottom] = numbers;
  const isPart = numbers.length === 4 && left < right && top < bottom;
  return isPart && Math.min(...numbers) >= 0 && Math.max(...numbers) <= 1 ? numbers : null;
}

/** Reads a fragment; what is unknown or makes no sense is left at the start. */
export function fromFragment(fragment, catalogue) {
  const params = new URLSearchParams(fragment.replace(/^#/, ""));
  const names = catalogue.tables.map((table) => table.name);
  const start = startState(
    catalogue,
    names.includes(params.get("table")) ? params.get("table") : undefined,
  );
  const metrics = metricsOf(catalogue, start.table);
  const pick = (key, allowed) => (allowed.includes(params.get(key)) ? params.get(key) : start[key]);
  const flag = (key) => (params.has(key) ? params.get(key) === "1" : start[key]);
  const number = (value) => (value && Number.isFinite(Number(value)) ? Number(value) : null);
  const view = catalogue.viewOf(start.table);
  const keys = (value) =>
    list(value)
      .map(view.readKey)
      .filter((key) => key !== null);

  const other = pick(
    "other",
    names.filter(
      (name) => name !== start.table && view.comparable && catalogue.viewOf(name) === view,
    ),
  );
  const uses = {};
  for (const use of ["with", "without"]) {
    for (const name of list(params.get(use))) if (view.uses.includes(name)) uses[name] = use;
  }
  const dropped = {};
  for (const name of view.choiceNames(tableOf(catalogue, start.table))) {
    const values = list(params.get(`no.${name}`));
    if (values.length) dropped[name] = values;
  }
  const ranges = {};
  for (const metric of metrics) {
    const [low, high] = (params.get(`range.${metric}`) ?? "").split("~").map(number);
    if ((low ?? null) !== null || (high ?? null) !== null)
      ranges[metric] = [low ?? null, high ?? null];
  }
  const options = {};
  for (const [name, value] of params) if (name.startsWith("o.")) options[name.slice(2)] = value;
  return {
    ...start,
    x: pick("x", metrics),
    y: pick("y", other ? metricsOf(catalogue, other) : metrics),
    other,
    colour: pick("colour", coloursOf(catalogue, start.table)),
    list: pick("list", ["front", "best", "picked", "found"]),
    xlog: flag("xlog"),
    ylog: flag("ylog"),
    front: flag("front"),
    uses,
    ranges,
    dropped,
    picked: keys(params.get("picked")),
    packed: params.get("picks"),
    sort: params.get("sort"),
    find: params.get("find") ?? "",
    pane: params.get("pane") ?? start.pane,
    options,
    focus: keys(params.get("focus")).at(0) ?? null,
    view: readPart((params.get("view") ?? "").split("~").map(number)),
  };
}

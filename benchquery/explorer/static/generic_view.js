// The view that serves every kind of table; kinds with a script of their own may build on it.

import { codeLine, curveSection, figures, heading } from "./details.js";
import { make } from "./dom.js";
import { capitalised, formatExact } from "./format.js";
import { columnOf } from "./model.js";
import { frontCode, literal, openingLines, whereCode } from "./query_code.js";

/** Returns texts in order: as numbers if all are, else those of a known order first. */
function ordered(texts, known) {
  const place = (text) => (known.includes(text) ? known.indexOf(text) : known.length);
  const numeric = texts.every((text) => text !== "" && Number.isFinite(Number(text)));
  return texts.sort((a, b) =>
    numeric ? a - b : place(a) - place(b) || (a < b ? -1 : Number(a > b)),
  );
}

/** Returns the axes, colour and list of a newcomer: what has a better direction by its expense. */
function start(kind, table, metrics) {
  const isDirected = (name) => Boolean(columnOf(table, name).direction);
  const order = [
    ...metrics.filter(isDirected),
    ...metrics.filter((name) => !isDirected(name) && !table.key.includes(name)),
    ...metrics,
  ];
  const y = order.find((name) => name !== kind.expense) ?? order[0];
  const others = metrics.includes(kind.expense) ? [kind.expense, ...order] : order;
  const x = others.find((name) => name !== y) ?? y;
  const list = [x, y].every((name) => name && isDirected(name)) ? "front" : "best";
  return { x, y, colour: table.choices[0] ?? y, list };
}

/** Returns the columns that lists show beside the figures: those that say what a row is. */
function namingColumns(kind, table) {
  return kind.brief.filter((name) => {
    const column = columnOf(table, name);
    return column && !column.is_metric && !(kind.key.length === 1 && kind.key[0] === name);
  });
}

/** Returns Python code that opens the rows of a list. */
function python(state, model, rows) {
  const passing = model.pass.reduce((sum, one) => sum + one, 0);
  let query = `.take([${rows.join(", ")}])`;
  if (state.list === "best" && !model.other && passing === rows.length) query = whereCode(state);
  if (state.list === "front" && !model.other) query = whereCode(state) + frontCode(model);
  const beside = [
    "keys = set(chosen)",
    "beside = other.take([row for row, key in enumerate(other) if key in keys])",
  ];
  return [
    "import benchquery",
    "",
    ...openingLines(model, ["table", "other"], "benchquery.open"),
    `chosen = table${query}`,
    ...(model.other ? beside : []),
    "print(chosen)",
    ...(model.other ? ["print(beside)"] : []),
    "",
  ].join("\n");
}

/** Returns the rows of which every word of a text is part of the key or of some text. */
async function find(table, text) {
  const words = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  const texts = table.columns.filter(({ dtype }) => dtype === "string");
  const values = texts.map(({ name }) => table.values(name));
  const saidOf = (row) =>
    [table.keys[row], ...values.map((column) => column[row])].join("\n").toLowerCase();
  return [...table.keys.keys()].filter((row) => {
    const said = saidOf(row);
    return words.every((word) => said.includes(word));
  });
}

/** Returns the sections of the panel of one row: what it is, all its figures, its curve. */
function details({ kind, catalogue, model, row, picked, chosen }, actions) {
  const { table } = model;
  const value = (name) => table.values(name)[row];
  const named = kind.key.map((name) => `${name}=${literal(value(name))}`).join(", ");
  const title = kind.key.map((name) => String(value(name))).join(" ");
  return [
    ...heading({ model, row, picked, chosen, title, about: "" }, actions),
    codeLine(`benchquery.open(${JSON.stringify(table.name)}).where(${named})`),
    make("h3", {}, `On ${table.name}`),
    figures(table, row, table.columns),
    ...curveSection(table, row, catalogue.curve_columns),
  ];
}

/**
 * Makes the view of a kind.
 *
 * @param kind What the catalogue says of it.
 * @param orders By column, values in the order that they are listed in; others come after.
 */
export function createView(kind, catalogue, orders = {}) {
  const described = catalogue.tables.find((table) => table.kind === kind.name);
  const keyIsNumber = kind.key.length === 1 && columnOf(described, kind.key[0])?.dtype !== "string";
  const textsOf = (table, name) => Array.from(table.values(name), String);
  const inOrder = (texts, name) => ordered([...new Set(texts)], orders[name] ?? []);
  const textOf = (table, row) => (name) => formatExact(table.values(name)[row]);
  return {
    one: kind.one,
    many: kind.many,
    ringed: null,
    comparable: true,
    agreement: async () => null,
    start: (table, metrics) => start(kind, table, metrics),
    readKey(text) {
      if (!keyIsNumber) return text === "" ? null : text;
      return text !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
    },
    nameOf: String,
    names: () => [],
    usesTitle: "",
    uses: [],
    usedIn: () => () => false,
    choiceNames: (table) => table.choices,
    choices: (table) =>
      table.choices.map((name) => {
        const texts = textsOf(table, name);
        return {
          name,
          title: capitalised(name),
          values: inOrder(texts, name),
          valueOf: (row) => texts[row],
        };
      }),
    colours: (table, metrics) => [
      ...table.choices.map((name) => [name, name]),
      ...metrics.filter(([name]) => !table.choices.includes(name)),
    ],
    colourOf(name, table) {
      const texts = textsOf(table, name);
      const labels = inOrder([...texts, ...(orders[name] ?? [])], name);
      const values = Float64Array.from(texts, (text) => labels.indexOf(text));
      const there = new Set(values);
      return {
        values,
        title: name,
        discrete: labels
          .map((label, value) => [value, label])
          .filter(([value]) => there.has(value)),
        categories: columnOf(table, name).dtype === "string",
      };
    },
    headings: (table) => [kind.one, ...namingColumns(kind, table)],
    cells: (table, row) => namingColumns(kind, table).map(textOf(table, row)),
    tooltip: (table, row) => ({
      title: kind.key.map((name) => String(table.values(name)[row])).join(" · "),
      facts: namingColumns(kind, table)
        .filter((name) => !kind.key.includes(name))
        .map((name) => [name, textOf(table, row)(name)]),
    }),
    findHint: "by name",
    find,
    panes: [],
    python,
    details: (shown, actions) => details({ ...shown, kind, catalogue }, actions),
  };
}

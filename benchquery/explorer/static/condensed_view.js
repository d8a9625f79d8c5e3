// The view of tables of condensed graphs. A row is one graph as one evaluation judged it; its key
// is the hash of the configuration, a dot, and the hash of the evaluation.

import { condensedDetails } from "./condensed_details.js";
import { columnOf } from "./model.js";
import { pythonOf } from "./python.js";

const KEY = /^[0-9a-f]{16}\.[0-9a-f]{16}$/;

/** Returns texts in order: as numbers if all are, else those of a known order first. */
function ordered(texts, known) {
  const place = (text) => (known.includes(text) ? known.indexOf(text) : known.length);
  const numeric = texts.every((text) => Number.isFinite(Number(text)));
  return texts.sort((a, b) =>
    numeric ? a - b : place(a) - place(b) || (a < b ? -1 : Number(a > b)),
  );
}

/** Returns Python code with the configurations of a list, and the rows that they stand for. */
function python(state, { table }, rows) {
  const own = "  # add source=FOLDER if it is not found";
  const pairs = rows.map((row) => {
    const config = pythonOf("CondenseConfig", table.values("config_text")[row]);
    const evaluation = pythonOf("EvalConfig", table.values("evaluation_text")[row]);
    return `    (\n        ${config},\n        ${evaluation},\n    ),`;
  });
  return [
    "from benchquery import CondenseConfig, EvalConfig, condread",
    "",
    `cond = condread(${JSON.stringify(table.name)})${own}`,
    "rows = [",
    ...pairs,
    "]",
    "keys = {(config.valid_hash(), evaluation.valid_hash()) for config, evaluation in rows}",
    'records = [row for row in cond.records() if (row["config"], row["evaluation"]) in keys]',
    "for row in records:",
    '    print(row["method"], row["ratio"], row["seed"], row["model"], row["perf"])',
    "",
  ].join("\n");
}

/** Makes the view. */
export function createCondensedView(catalogue) {
  const known = { method: catalogue.methods };
  const textsOf = (table, name) => Array.from(table.values(name), String);
  const inOrder = (texts, name) => ordered([...new Set(texts)], known[name] ?? []);
  return {
    one: "condensed graph",
    many: "evaluated graphs",
    ringed: "the chosen graph by other models",
    comparable: false,
    start: () => ({ x: "ratio", y: "perf", colour: "method", list: "best" }),
    readKey: (text) => (KEY.test(text) ? text : null),
    nameOf: (key) => key.slice(0, 8),
    uses: [],
    usedIn: () => () => false,
    choiceNames: (table) => table.choices,
    choices: (table) =>
      table.choices.map((name) => {
        const texts = textsOf(table, name);
        return {
          name,
          title: name[0].toUpperCase() + name.slice(1),
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
      const labels = inOrder([...texts, ...(known[name] ?? [])], name);
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
    headings: ["graph", "method", "ratio", "init", "backbone", "seed", "model"],
    cells: (table, row) =>
      ["method", "ratio", "init", "backbone", "seed", "model"].map((name) =>
        String(table.values(name)[row]),
      ),
    tooltip: (table, row) => ({
      title: `${table.values("method")[row]} · ${table.values("ratio")[row]}`,
      facts: ["init", "seed", "model"].map((name) => [name, String(table.values(name)[row])]),
    }),
    python,
    details: (shown, actions) => condensedDetails({ ...shown, catalogue }, actions),
  };
}

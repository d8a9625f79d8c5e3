// The view of tables of condensed graphs. A row is one graph as one evaluation judged it; its key
// is the hash of the configuration, a dot, and the hash of the evaluation.

import { createView as createGenericView } from "../../generic_view.js";
import { condensedDetails } from "./details.js";
import { leaderboardPane } from "./leaderboard_pane.js";
import { pythonOf } from "./python.js";
import { sizeOf } from "./size.js";

const namesOf = (table) => ["method", sizeOf(table), "init", "backbone", "seed", "model"];
const KEY = /^[0-9a-f]{16}\.[0-9a-f]{16}$/;

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
    `    print(row["method"], row["${sizeOf(table)}"], row["seed"], row["model"], row["perf"])`,
    "",
  ].join("\n");
}

/** Makes the view. */
export function createView(kind, catalogue) {
  const textOf = (table, row) => (name) => String(table.values(name)[row]);
  return {
    ...createGenericView(kind, catalogue, { method: kind.facts.methods }),
    many: "evaluated graphs",
    ringed: "the chosen graph by other models",
    comparable: false,
    start: (table) => ({
      x: sizeOf(table),
      y: "perf",
      colour: "method",
      list: "best",
      pane: "leaderboard",
    }),
    readKey: (text) => (KEY.test(text) ? text : null),
    nameOf: (key) => key.slice(0, 8),
    headings: (table) => ["graph", ...namesOf(table)],
    cells: (table, row) => namesOf(table).map(textOf(table, row)),
    tooltip: (table, row) => ({
      title: ["method", sizeOf(table)].map(textOf(table, row)).join(" · "),
      facts: ["init", "seed", "model"].map((name) => [name, textOf(table, row)(name)]),
    }),
    findHint: "by method, model, hash",
    panes: [leaderboardPane],
    python,
    details: (shown, actions) => condensedDetails({ ...shown, catalogue }, actions),
  };
}

// The view of tables of architectures.

import { createReader, drawLink, readDigits } from "./architecture.js";
import { architectureDetails } from "./details.js";
import { findRows } from "./find.js";
import { createReplayPane } from "./replay_pane.js";
import { loadFacts } from "../../data.js";
import { make } from "../../dom.js";
import { formatCount, formatFigure } from "../../format.js";
import { frontCode, openingLines, whereCode } from "../../query_code.js";

/** Returns the digits of all hashes of a table, and how many each has. */
function digitsOf(table) {
  const digits = readDigits(table.keys);
  return { digits, width: digits.length / (table.keys.length || 1) };
}

/** Returns Python code that opens the rows of a list. */
function python(state, model, rows) {
  const lines = ["from benchquery import lightread", ""];
  lines.push(...openingLines(model, ["bench", "other"], "lightread"));
  if (state.list === "best" && !model.other) {
    lines.push(`chosen = bench${whereCode(state)}`);
  } else if (state.list === "front" && !model.other) {
    lines.push(`chosen = bench${whereCode(state)}${frontCode(model)}`);
  } else {
    const hashes = rows.map((row) => model.table.keys[row]);
    lines.splice(0, 0, "import numpy as np");
    lines.push(`hashes = [${hashes.join(", ")}]`);
    lines.push("chosen = bench.where(np.isin(bench.hashes, hashes))");
    if (model.other) lines.push("beside = other.where(np.isin(other.hashes, hashes))");
  }
  lines.push("print(chosen.frame())  # needs pandas");
  if (model.other) lines.push("print(beside.frame())");
  return [...lines, ""].join("\n");
}

/** Says how alike two tables rank, if one metric of both is shown; null if that is unknown. */
async function agreement(state, model) {
  if (state.x !== state.y) return null;
  const names = [state.table, state.other].sort((a, b) => (a < b ? -1 : 1));
  const rows = await loadFacts(["comparisons", ...names]);
  const row = rows.find(({ by }) => by === state.x);
  if (!row) return null;
  const said = [
    `Pearson ${formatFigure(row.pearson)}`,
    `Spearman ${formatFigure(row.spearman)}`,
    // The analysis takes the largest figures as the top.
    model.yColumn.direction === "higher"
      ? `${(100 * row.top_overlap).toFixed(1)}% of the top 5% shared`
      : null,
  ].filter(Boolean);
  return `${row.by} of the ${formatCount(row.common)} in common: ${said.join(", ")}`;
}

/** Makes the view. */
export function createView(kind, catalogue) {
  const reader = createReader(kind.facts);
  const { ops, links } = reader;
  const linkNamed = (name) => links.find((link) => link.name === name);
  const depths = [...new Set(links.map((link) => String(link.depth)))].sort();
  return {
    one: kind.one,
    many: kind.many,
    ringed: "neighbours of the chosen",
    comparable: true,
    agreement,
    start(_, metrics) {
      const y = metrics.includes("valid_perf") ? "valid_perf" : metrics.at(0);
      const other = metrics.find((metric) => metric !== y) ?? y;
      const x = metrics.includes("latency") ? "latency" : other;
      return { x, y, colour: "depth", list: "front" };
    },
    readKey: (text) => (/^\d+$/.test(text) ? Number(text) : null),
    nameOf: (hash) => String(hash).padStart(5, "0"),
    names: ({ keys }) => [
      { name: "link", valueOf: (row) => reader.linkOf(keys[row]).name },
      { name: "ops", valueOf: (row) => reader.opsOf(keys[row]).join(",") },
    ],
    usesTitle: "Operations",
    uses: ops,
    usedIn(table) {
      const { digits, width } = digitsOf(table);
      const codes = new Map(ops.map((op, code) => [op, code]));
      return (row, op) => {
        const start = row * width;
        return digits.subarray(start + 1, start + width).includes(codes.get(op));
      };
    },
    choiceNames: () => ["link", "depth"],
    choices(table) {
      const { digits, width } = digitsOf(table);
      const linkAt = (row) => links[digits[row * width]];
      return [
        {
          name: "link",
          title: "Links",
          values: links.map((link) => link.name),
          valueOf: (row) => linkAt(row).name,
          content: (name) => [drawLink(linkNamed(name)), make("span", {}, name)],
          hint: (name) => `link ${name}, depth ${linkNamed(name).depth}`,
        },
        {
          name: "depth",
          title: "Depth",
          values: depths,
          valueOf: (row) => String(linkAt(row).depth),
        },
      ];
    },
    colours: (_, metrics) => [
      ["depth", "depth"],
      ...metrics,
      ...ops.map((op) => [op, `uses of ${op}`]),
    ],
    colourOf(name, table) {
      const fact = name === "depth" ? reader.depthOf : (hash) => reader.countOf(hash, name);
      const values = Float64Array.from(table.keys, fact);
      const discrete = [...new Set(values)].sort().map((value) => [value, String(value)]);
      return { values, title: name === "depth" ? "depth" : `uses of ${name}`, discrete };
    },
    headings: () => ["hash", "operations", "link"],
    cells(table, row) {
      const hash = table.keys[row];
      return [reader.opsOf(hash).join(" "), reader.linkOf(hash).name];
    },
    tooltip(table, row) {
      const hash = table.keys[row];
      return {
        title: reader.opsOf(hash).join(" · "),
        facts: [["link", reader.linkOf(hash).name]],
      };
    },
    findHint: "by hash, link or operations",
    find: (table, text) => findRows(table, text, reader),
    panes: [createReplayPane(reader)],
    python,
    details: (shown, actions) => architectureDetails({ ...shown, catalogue, reader }, actions),
  };
}

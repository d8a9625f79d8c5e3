// The view of tables of architectures.

import { createReader, drawLink, readDigits } from "./architecture.js";
import { architectureDetails } from "./architecture_details.js";
import { make } from "./dom.js";
import { conditions } from "./filters.js";

/** Returns the digits of all hashes of a table, and how many each has. */
function digitsOf(table) {
  const digits = readDigits(table.keys);
  return { digits, width: digits.length / (table.keys.length || 1) };
}

/** Returns Python code that opens the rows of a list. */
function python(state, model, rows) {
  const { table, xColumn, yColumn } = model;
  const own = table.origin === "published" ? "" : "  # add source=FOLDER if it is not found";
  const lines = [
    "from benchquery import lightread",
    "",
    `bench = lightread(${JSON.stringify(table.name)})${own}`,
  ];
  const filters = conditions(state);
  const where = filters.length
    ? `.where(\n${filters.map((text) => `    ${JSON.stringify(text)},\n`).join("")})`
    : "";
  if (state.list === "best" && !model.other) {
    lines.push(`chosen = bench${where}`);
  } else if (state.list === "front" && !model.other) {
    const named = (direction) => [
      ...new Set(
        [xColumn, yColumn]
          .filter((column) => column.direction === direction)
          .map((column) => column.name),
      ),
    ];
    lines.push(
      `chosen = bench${where}.pareto(\n    maximise=${JSON.stringify(named("higher"))},\n    minimise=${JSON.stringify(named("lower"))},\n)`,
    );
  } else {
    const hashes = rows.map((row) => table.keys[row]);
    lines.splice(0, 0, "import numpy as np");
    lines.push(`chosen = bench.where(np.isin(bench.hashes, [${hashes.join(", ")}]))`);
  }
  lines.push("print(chosen.frame())  # needs pandas", "");
  return lines.join("\n");
}

/** Makes the view. */
export function createArchitectureView(catalogue) {
  const reader = createReader(catalogue);
  const { ops, links } = reader;
  const linkNamed = (name) => links.find((link) => link.name === name);
  const depths = [...new Set(links.map((link) => String(link.depth)))].sort();
  return {
    one: "architecture",
    many: "architectures",
    ringed: "neighbours of the chosen",
    comparable: true,
    start(metrics) {
      const y = metrics.includes("valid_perf") ? "valid_perf" : metrics.at(0);
      const other = metrics.find((metric) => metric !== y) ?? y;
      const x = metrics.includes("latency") ? "latency" : other;
      return { x, y, colour: "depth", list: "front" };
    },
    readKey: (text) => (/^\d+$/.test(text) ? Number(text) : null),
    nameOf: (hash) => String(hash).padStart(5, "0"),
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
    headings: ["hash", "operations", "link"],
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
    python,
    details: (shown, actions) => architectureDetails({ ...shown, catalogue, reader }, actions),
  };
}

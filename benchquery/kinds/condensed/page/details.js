// What the panel says of one condensed graph or set: its drawing, figures and costs, the paper's figure
// beside, how it was condensed, and how models learn on it.

import { drawFigures } from "../../curve_chart.js";
import { loadPackedFacts } from "../../data.js";
import { chartKey, codeLine, curveSection, figures, heading } from "../../details.js";
import { make } from "../../dom.js";
import { formatCount, formatExact, formatFigure } from "../../format.js";
import { drawDegrees, drawGraph } from "./graph_drawing.js";
import { drawImages } from "./image_drawing.js";
import { pythonOf } from "./python.js";
import { sizeOf } from "./size.js";

const NO_FIGURES = ["config_text", "evaluation_text", "dataset", "ratio_of", "task"];
const NO_LOSSES = ["epoch", "valid_perf", "seconds"];
const PARTS = ["graph", "published", "trace", "values"];
const PERCENT = 100;

const note = (text) => make("p", { class: "muted" }, text);

/** Returns a table of two columns. */
function pairs(className, entries) {
  const lines = entries.map(([name, value]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      make("td", { class: "number exact" }, formatExact(value)),
    ),
  );
  return make("table", { class: className }, make("tbody", {}, ...lines));
}

function graphParts(graph) {
  if (!graph) return [note("There is no graph.")];
  const drawn = graph.from.length;
  const edges =
    drawn < graph.edges
      ? `the ${formatCount(drawn)} strongest of ${formatCount(graph.edges)} edges are drawn`
      : `${formatCount(graph.edges)} edges`;
  const classes = new Set(graph.classes).size;
  return [
    drawGraph(graph),
    note(`${formatCount(graph.classes.length)} nodes of ${classes} classes on a circle, ${edges}`),
    make("h3", {}, "Degrees"),
    drawDegrees(graph.degrees),
  ];
}

function imageParts(images) {
  const drawn = images.classes.length;
  const of = drawn < images.of ? `${formatCount(drawn)} of ${formatCount(images.of)}` : `${drawn}`;
  return [drawImages(images), note(`${of} images, a column a class`)];
}

function paperParts(paper, table, row) {
  if (!paper) return [note("The paper has no figure of such a graph.")];
  const percent = (name) => PERCENT * table.values(name)[row];
  const said = (mean, std) =>
    `${mean.toFixed(1)}${Number.isFinite(std) ? ` ± ${std.toFixed(1)}` : ""} %`;
  const ours = percent("perf");
  const hasFigure = Number.isFinite(ours);
  return [
    pairs("beside", [
      ["ours, this seed", hasFigure ? said(ours, percent("perf_std")) : "–"],
      ["published", said(paper.mean, paper.std)],
      ["difference", hasFigure ? `${(ours - paper.mean).toFixed(1)}` : "–"],
    ]),
    note(paper.source),
  ];
}

function traceParts(trace) {
  if (!trace) return [note("There are no snapshots.")];
  const losses = Object.keys(trace).filter((name) => !NO_LOSSES.includes(name));
  return [losses, ["valid_perf"]]
    .filter((names) => names.length)
    .flatMap((names) => [chartKey(names.map((name) => [name, ""])), drawFigures(trace, names)]);
}

/** Returns the other rows of the same graph: how other models judged it. */
function otherEvaluations(table, row) {
  const configs = table.values("config");
  return [...configs.keys()].filter((other) => other !== row && configs[other] === configs[row]);
}

function evaluationList(table, rows, focus) {
  if (!rows.length) return [];
  const buttons = rows.map((row) =>
    make(
      "li",
      {},
      make(
        "button",
        { type: "button", class: "neighbour", onclick: () => focus(table.keys[row]) },
        make("span", { class: "ops" }, table.values("model")[row]),
        make("span", { class: "number" }, formatFigure(table.values("perf")[row])),
      ),
    ),
  );
  return [
    make("h3", {}, "By other models", make("small", {}, "perf of the same graph")),
    make("ul", { class: "neighbours" }, ...buttons),
  ];
}

/** Returns the sections of the panel, and loads what arrives later. */
export function condensedDetails({ model, catalogue, row, picked, chosen }, actions) {
  const { table } = model;
  const key = table.keys[row];
  const value = (name) => table.values(name)[row];
  const title = `${value("method")} ${value(sizeOf(table))}`;
  const about = `seed ${value("seed")} · by ${value("model")}`;
  const columns = table.columns.filter(
    ({ name }) => !NO_FIGURES.includes(name) && !table.choices.includes(name),
  );
  const others = otherEvaluations(table, row);
  const holders = Object.fromEntries(
    PARTS.map((name) => [name, make("div", { id: `part-${name}` })]),
  );
  loadPackedFacts(["configs", table.name, value("config")]).then(
    ({ graph, images, published, trace, values }) => {
      holders.graph.replaceChildren(...(images ? imageParts(images) : graphParts(graph)));
      holders.published.replaceChildren(...paperParts(published[value("model")], table, row));
      holders.trace.replaceChildren(...traceParts(trace));
      holders.values.replaceChildren(pairs("values", Object.entries(values)));
      actions.ring(
        key,
        others.map((other) => table.keys[other]),
      );
    },
    (error) => holders.graph.replaceChildren(note(error.message)),
  );
  return [
    ...heading({ model, row, picked, chosen, title, about }, actions),
    codeLine(pythonOf("CondenseConfig", value("config_text"))),
    holders.graph,
    make("h3", {}, `On ${table.name}`),
    figures(table, row, columns),
    make("h3", {}, "Beside the paper"),
    holders.published,
    ...evaluationList(table, others, actions.focus),
    make("h3", {}, "Condensation", make("small", {}, "its snapshots, by epoch")),
    holders.trace,
    ...curveSection(table, row, catalogue.curve_columns),
    make("h3", {}, "Configuration", make("small", {}, "all values")),
    holders.values,
  ];
}

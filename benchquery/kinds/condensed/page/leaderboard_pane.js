// The leaderboard: methods by dataset and size, the mean over condensation seeds, with the paper's
// figure beside it. It ranks by validation; test figures are shown and rank nothing.

import { loadFacts } from "../../data.js";
import { make } from "../../dom.js";

const percent = (value) => (value === null ? "–" : value.toFixed(1));
const spread = (value) => (value === null ? "" : ` ± ${value.toFixed(1)}`);
const sizeText = (size, name) =>
  name === "ratio" ? `${+(100 * size).toPrecision(3)}%` : `${size} a class`;

/** Returns the columns: a dataset and size each, with the row of every method that has one. */
function columnsOf(boards) {
  return boards.flatMap(({ table, dataset, size: name, rows }) =>
    [...new Set(rows.map(({ size }) => size))]
      .sort((a, b) => a - b)
      .map((size) => ({
        id: `${table}~${size}`,
        table,
        dataset,
        title: sizeText(size, name),
        rows: new Map(rows.filter((row) => row.size === size).map((row) => [row.method, row])),
      })),
  );
}

/** Returns the methods with their mean rank by validation over some columns; the best first. */
function ranked(columns) {
  const places = new Map();
  for (const { rows } of columns) {
    const known = [...rows.values()].filter(({ valid_perf: valid }) => valid !== null);
    for (const row of rows.values()) if (!places.has(row.method)) places.set(row.method, []);
    for (const { method, valid_perf: valid } of known) {
      places.get(method).push(1 + known.filter((other) => other.valid_perf > valid).length);
    }
  }
  const mean = (list) => (list.length ? list.reduce((a, b) => a + b, 0) / list.length : null);
  return [...places]
    .map(([method, list]) => ({ method, rank: mean(list) }))
    .sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity));
}

/** Returns methods in the order of a column's validation figure, or of their name. */
function sorted(methods, columns, by) {
  if (by === "method") return [...methods].sort((a, b) => (a.method < b.method ? -1 : 1));
  const column = columns.find(({ id }) => id === by);
  if (!column) return methods;
  const valid = ({ method }) => column.rows.get(method)?.valid_perf ?? -Infinity;
  return [...methods].sort((a, b) => valid(b) - valid(a));
}

function cellsOf(row) {
  if (!row) return [make("td", { class: "number" }, "–"), make("td", { class: "number muted" })];
  const seeds = `${row.seeds} ${row.seeds === 1 ? "seed" : "seeds"}`;
  const valid = `validation ${percent(row.valid_perf)}${spread(row.valid_perf_std)}, ${seeds}`;
  const paper = row.published;
  return [
    make(
      "td",
      { class: "number", title: valid },
      `${percent(row.perf)}${spread(row.perf_std)}`,
      make("small", {}, ` ${percent(row.valid_perf)}`),
    ),
    make(
      "td",
      { class: "number published", title: paper?.source },
      paper ? `${percent(paper.mean)}${spread(paper.std ?? null)}` : "",
    ),
  ];
}

function tableOf(columns, option, actions) {
  const by = option("rank", "rank");
  const methods = sorted(ranked(columns), columns, by);
  const heading = (id, title, hint) =>
    make(
      "button",
      {
        type: "button",
        class: "sort",
        "data-rank": id,
        title: hint,
        onclick: () => actions.option("rank", id),
      },
      title,
      by === id ? " ▼" : "",
    );
  const sortState = (id) => (by === id ? "descending" : null);
  const head = make(
    "tr",
    {},
    make(
      "th",
      { scope: "col", "aria-sort": sortState("method") },
      heading("method", "method", "by name"),
    ),
    make(
      "th",
      { scope: "col", class: "number", "aria-sort": sortState("rank") },
      heading("rank", "rank", "by the mean rank in validation"),
    ),
    ...columns.flatMap(({ id, dataset, title }) => [
      make(
        "th",
        { scope: "col", class: "number", "aria-sort": sortState(id) },
        heading(id, `${dataset} ${title}`, "by the validation figure of this column"),
      ),
      make("th", { scope: "col", class: "number" }, "published"),
    ]),
  );
  const lines = methods.map(({ method, rank }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("span", { class: "method" }, method)),
      make("td", { class: "number" }, rank === null ? "–" : rank.toFixed(1)),
      ...columns.flatMap(({ rows }) => cellsOf(rows.get(method))),
    ),
  );
  return make(
    "table",
    { class: "list leaderboard" },
    make("thead", {}, head),
    make("tbody", {}, ...lines),
  );
}

/** Returns the models of a table that have a name of their own; members of families rank nothing. */
const modelsOf = (table) =>
  [...new Set(table.values("model"))].filter((name) => !name.includes(":"));

/** Loads the leaderboards of some tables as one model judged them; those without it are left out. */
async function loadBoards(tables, model) {
  const loaded = tables.map(async ({ name }) => {
    const known = await loadFacts(["leaderboards", name, model]).catch(() => null);
    return known && { ...known, table: name };
  });
  return (await Promise.all(loaded)).filter(Boolean);
}

function controls(models, model, all, actions) {
  const select = make(
    "select",
    { "aria-label": "Judged by", onchange: ({ target }) => actions.option("model", target.value) },
    ...models.map((name) =>
      make("option", { value: name, selected: name === model }, `by ${name}`),
    ),
  );
  const everywhere = make("input", {
    type: "checkbox",
    id: "all-datasets",
    checked: all,
    onchange: ({ target }) => actions.option("all", target.checked ? "1" : "0"),
  });
  return make(
    "div",
    { class: "pane-controls" },
    select,
    make("label", { class: "tick" }, everywhere, " all datasets"),
  );
}

async function show(place, { catalogue, model: { table }, option }, actions) {
  const models = modelsOf(table);
  let model = option("model", models[0]);
  const all = option("all", "0") === "1";
  const alike = all ? catalogue.tables.filter(({ kind }) => kind === table.kind) : [table];
  let boards = await loadBoards(alike, model);
  const others = boards[0]?.models ?? [];
  if (others.length && boards.every(({ rows }) => !rows.length)) {
    // It judged at other tasks alone.
    [model] = others;
    boards = await loadBoards(alike, model);
  }
  if (place.dataset.pane !== "leaderboard") return;
  const columns = columnsOf(boards);
  const what = boards[0]?.metric ?? "";
  place.replaceChildren(
    controls(boards[0]?.models ?? models, model, all, actions),
    columns.length
      ? make(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": "Leaderboard" },
          tableOf(columns, option, actions),
        )
      : make("p", { class: "muted" }, `Nothing here was judged by ${model}.`),
    make(
      "p",
      { class: "muted" },
      `Test ${what} in percent, mean ± deviation over condensation seeds, with the validation figure `,
      "in small; the paper's figure beside it. Ranked by validation: rank is the mean over the columns.",
    ),
  );
}

export const leaderboardPane = {
  name: "leaderboard",
  title: "Leaderboard",
  applies: (table) => modelsOf(table).length > 0,
  isTable: true,
  show,
};

// Searches as `benchquery search --out` writes them: read in the browser, from the person's own disk.

const FORMAT = "graphtab-traces";

/** Returns the places of a trace's queries in the order in which they ended. */
function endOrder(queries) {
  return queries
    .map((query, place) => [query.ended, place])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

/** Tells whether a query is a better find: after a longer training, or by a better reward. */
function beats(query, best) {
  if (query.fidelities !== best.fidelities) return query.fidelities > best.fidelities;
  return query.rewards > best.rewards;
}

/**
 * Returns a trace with one entry a query, in the order in which they ended: the row that was asked
 * for, the best row so far, what was spent by then, and the regret: how much worse the test figure
 * of the best is than the best of the table.
 */
function progressOf(about, queries, table) {
  const perf = table.values("perf");
  const most = perf.reduce((a, b) => (b > a ? b : a), -Infinity);
  let best = null;
  let spent = 0;
  const steps = endOrder(queries).map(([, place]) => {
    const query = queries[place];
    if (best === null || beats(query, best)) best = query;
    spent += query.costs;
    const incumbent = table.rowOf.get(best.hashes);
    return {
      row: table.rowOf.get(query.hashes),
      best: incumbent,
      reward: query.rewards,
      spent,
      regret: most - perf[incumbent],
    };
  });
  return { ...about, steps };
}

/**
 * Reads a file of traces.
 *
 * @returns The traces of a table. Throws an Error in words if it is no such file, or none of its
 *   traces searched the table.
 */
export async function readTraces(file, table) {
  const { parquetMetadata, parquetReadObjects } = await import("../../vendor/parquet.js");
  const bytes = await file.arrayBuffer();
  let about;
  let rows;
  try {
    const { key_value_metadata: said } = parquetMetadata(bytes);
    about = JSON.parse(said.find(({ key }) => key === FORMAT).value).traces;
    rows = await parquetReadObjects({ file: bytes });
  } catch {
    throw new Error(`${file.name} is no file of traces; benchquery search --out writes them.`);
  }
  const queries = about.map(() => []);
  for (const row of rows) queries[Number(row.trace)].push(row);
  const traces = about
    .map((one, place) => [one, queries[place]])
    .filter(([one, asked]) => one.table_sha256.startsWith(table.stamp) && asked.length)
    .map(([one, asked]) => progressOf(one, asked, table));
  if (traces.length) return traces;
  const names = [...new Set(about.map(({ dataset }) => dataset))].join(", ");
  throw new Error(`${file.name} has searches of ${names || "nothing"}, none of this table.`);
}

/** Returns the value of the last step that had spent at most so much; NaN before the first. */
function at(steps, spent) {
  let found = NaN;
  for (const step of steps) {
    if (step.spent > spent * (1 + 1e-12)) break;
    found = step.regret;
  }
  return found;
}

/** Returns the mean regret by strategy over what was spent, as lines of a chart. */
export function regretLines(traces, points = 120) {
  const strategies = [...new Set(traces.map(({ strategy }) => strategy))];
  return strategies.map((strategy) => {
    const own = traces.filter((trace) => trace.strategy === strategy);
    const last = Math.max(...own.map(({ steps }) => steps.at(-1).spent));
    const xs = Array.from({ length: points }, (_, place) => ((place + 1) * last) / points);
    const ys = xs.map(
      (spent) => own.reduce((sum, { steps }) => sum + at(steps, spent), 0) / own.length,
    );
    return { name: strategy, title: `${own.length} searches`, xs, ys };
  });
}

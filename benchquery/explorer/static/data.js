// What the page loads: the catalogue, tables, curves. The same files come from the server
// and from an exported folder. Each is loaded once.

import { tableFromIPC } from "./vendor/arrow.js";

const loaded = new Map();

function once(path, load) {
  if (!loaded.has(path)) {
    const promise = load(path);
    loaded.set(path, promise);
    promise.catch(() => loaded.delete(path));
  }
  return loaded.get(path);
}

async function request(path) {
  const answer = await fetch(path);
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Error(said.error ?? `${path} could not be loaded (${answer.status})`);
}

async function loadJson(path) {
  return (await request(path)).json();
}

/** Loads a gzipped file; a host may have unpacked it on the way. */
async function loadPacked(path) {
  let bytes = new Uint8Array(await (await request(path)).arrayBuffer());
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
  }
  return bytes;
}

async function loadArrow(path) {
  return tableFromIPC(await loadPacked(path));
}

/** Returns what rows go by: the hash, or those of configuration and evaluation. */
function keysOf({ kind }, columns) {
  if (kind === "architectures") return columns.get("hash");
  const evaluations = columns.get("evaluation");
  return Array.from(columns.get("config"), (config, row) => `${config}.${evaluations[row]}`);
}

/** Loads the catalogue: tables, columns, operations, links. */
export function loadCatalogue() {
  return once("data/catalogue.json", loadJson);
}

/** Loads a table: its description, `values(name)`, its `keys`, and `rowOf` from key to row. */
export async function loadTable(description) {
  return once(`data/tables/${encodeURIComponent(description.name)}.arrow.gz`, async (path) => {
    const arrow = await loadArrow(path);
    const columns = new Map(
      description.columns.map(({ name }) => [name, arrow.getChild(name).toArray()]),
    );
    const keys = keysOf(description, columns);
    const rowOf = new Map(Array.from(keys, (key, row) => [key, row]));
    return { ...description, keys, rowOf, values: (name) => columns.get(name) };
  });
}

/** Loads the hash of every raw form, the operations running fastest. */
export async function loadForms() {
  return once("data/forms.arrow.gz", async (path) =>
    (await loadArrow(path)).getChild("hash").toArray(),
  );
}

/** Loads what there is of a configuration but its figures: values, snapshots, graph. */
export async function loadConfig(description, config) {
  return once(
    `data/configs/${encodeURIComponent(description.name)}/${config}.json.gz`,
    async (path) => JSON.parse(new TextDecoder().decode(await loadPacked(path))),
  );
}

/** Loads every epoch of every seed of a row, by column. */
export async function loadCurve(description, key) {
  return once(
    `data/curves/${encodeURIComponent(description.name)}/${key}.arrow.gz`,
    async (path) => {
      const arrow = await loadArrow(path);
      return (name) => arrow.getChild(name).toArray();
    },
  );
}

/** Loads how alike two tables rank architectures, one row a metric. */
export function loadComparison(first, second) {
  const [a, b] = [first, second].sort((p, q) => (p < q ? -1 : 1)).map(encodeURIComponent);
  return once(`data/comparisons/${a}/${b}.json`, loadJson);
}

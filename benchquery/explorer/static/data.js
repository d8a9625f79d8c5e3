// What the page loads: the catalogue, tables, curves, and the files that kinds of tables add. The
// same files come from the server and from an exported folder. Each is loaded once.

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
  const answer = await fetch(path).catch(() => {
    throw new Error(
      "The server of this page does not answer. It may have been stopped: start it again, then reload the page.",
    );
  });
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

/** Returns what rows go by: the values of their key's column, or of several, joined by dots. */
function keysOf({ key }, columns) {
  const parts = key.map((name) => columns.get(name));
  if (parts.length === 1) return parts[0];
  return Array.from(parts[0], (_, row) => parts.map((values) => values[row]).join("."));
}

/** Returns the path of a file, its parts written so that none can lead elsewhere. */
function pathOf(parts, ending) {
  return `data/${parts.map(encodeURIComponent).join("/")}${ending}`;
}

/** Loads the catalogue: tables, their columns, their kinds. */
export function loadCatalogue() {
  return once("data/catalogue.json", loadJson);
}

/** Loads a table: its description, `values(name)`, its `keys`, and `rowOf` from key to row. */
export async function loadTable(description) {
  return once(pathOf(["tables", description.name], ".arrow.gz"), async (path) => {
    const arrow = await loadArrow(path);
    const columns = new Map(
      description.columns.map(({ name }) => [name, arrow.getChild(name).toArray()]),
    );
    const keys = keysOf(description, columns);
    const rowOf = new Map(Array.from(keys, (key, row) => [key, row]));
    return { ...description, keys, rowOf, values: (name) => columns.get(name) };
  });
}

/** Loads every epoch of every seed of a row, by column. */
export async function loadCurve(description, row) {
  return loadColumns(["curves", description.name, row]);
}

/** Loads columns that a kind's view provides: a function from name to values. */
export async function loadColumns(parts) {
  return once(pathOf(parts, ".arrow.gz"), async (path) => {
    const arrow = await loadArrow(path);
    return (name) => arrow.getChild(name).toArray();
  });
}

/** Loads a JSON file that a kind's view provides. */
export async function loadFacts(parts) {
  return once(pathOf(parts, ".json"), loadJson);
}

/** Loads a gzipped JSON file that a kind's view provides. */
export async function loadPackedFacts(parts) {
  return once(pathOf(parts, ".json.gz"), async (path) =>
    JSON.parse(new TextDecoder().decode(await loadPacked(path))),
  );
}

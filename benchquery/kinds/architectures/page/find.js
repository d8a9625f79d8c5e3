// Architectures by what people call them: a hash, a link list, operations, or all of it.

import { loadColumns } from "../../data.js";
import { rawLinks } from "./architecture.js";

const WORD = /[a-z_0-9]+/g;

/** Returns what a text names: numbers, link lists and operations; `unknown` is the rest. */
function read(text, { ops }) {
  const words = text.toLowerCase().match(WORD) ?? [];
  const digits = words.filter((word) => /^\d$/.test(word)).join("");
  const longer = words.filter((word) => !/^\d$/.test(word) && word !== "arch");
  const isLink = (word) => /^[0-3]{4}$/.test(word);
  const isOp = (word) => ops.includes(word);
  const named = [digits, ...longer].filter(Boolean);
  return {
    links: named.filter(isLink),
    ops: named.filter(isOp),
    hashes: named.filter((word) => /^\d+$/.test(word) && !isLink(word)),
    unknown: named.filter((word) => !/^\d+$/.test(word) && !isOp(word)),
  };
}

/** Returns the hash of a link list and operations in any form. */
async function hashOf(kind, link, names, ops) {
  const forms = (await loadColumns(["kinds", kind, "forms"]))("hash");
  const place = rawLinks().findIndex((raw) => raw.join("") === link);
  if (place < 0) return null;
  const code = names.reduce((sum, name) => sum * ops.length + ops.indexOf(name), 0);
  return forms[place * ops.length ** names.length + code];
}

/**
 * Returns the rows that a text names: `61237`, `0123`, `gin gin`, `0,0,1,2 gcn gat gin fc` or
 * `Arch([0, 0, 1, 2], ["gcn", ...])`. A link list and four operations name one architecture, in
 * whichever form; fewer operations are those that it must have.
 */
export async function findRows(table, text, reader) {
  const { links, ops, hashes, unknown } = read(text, reader);
  if (unknown.length || links.length > 1 || ops.length > 4) return [];
  if (links.length && ops.length === 4) {
    const row = table.rowOf.get(await hashOf(table.kind, links[0], ops, reader.ops));
    return row === undefined ? [] : [row];
  }
  const enough = (hash) =>
    ops.every((op) => reader.countOf(hash, op) >= ops.filter((other) => other === op).length);
  const fits = (hash) =>
    hashes.every((number) => String(hash).padStart(5, "0").startsWith(number)) &&
    links.every((link) => reader.linkOf(hash).name === link) &&
    enough(hash);
  return [...table.keys.keys()].filter((row) => fits(table.keys[row]));
}

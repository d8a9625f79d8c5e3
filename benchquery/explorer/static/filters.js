// Filters: which rows pass, and the same as conditions of benchquery's query language.

import { readDigits } from "./architecture.js";

/**
 * Returns the conditions that a state's filters stand for. All must hold, so a choice
 * among links or depths is written as what is left out.
 */
export function conditions(state) {
  const texts = [];
  for (const [op, use] of Object.entries(state.ops)) {
    texts.push(use === "with" ? `${op} >= 1` : `${op} == 0`);
  }
  for (const link of state.droppedLinks) texts.push(`link != ${link}`);
  for (const depth of state.droppedDepths) texts.push(`depth != ${depth}`);
  for (const [name, [low, high]] of Object.entries(state.ranges)) {
    if (low !== null) texts.push(`${name} >= ${low}`);
    if (high !== null) texts.push(`${name} <= ${high}`);
  }
  return texts;
}

/** Returns one byte a row: 1 where all filters let it pass. */
export function passing(state, table, reader) {
  const count = table.hashes.length;
  const pass = new Uint8Array(count).fill(1);
  const digits = readDigits(table.hashes);
  const width = digits.length / (count || 1);
  const linkDropped = reader.links.map(
    ({ name, depth }) => state.droppedLinks.includes(name) || state.droppedDepths.includes(depth),
  );
  const uses = Object.entries(state.ops).map(([op, use]) => [
    reader.ops.indexOf(op),
    use === "with",
  ]);
  const ranges = Object.entries(state.ranges)
    .filter(([name]) => table.values(name))
    .map(([name, [low, high]]) => [table.values(name), low ?? -Infinity, high ?? Infinity]);
  for (let row = 0; row < count; row++) {
    const start = row * width;
    if (linkDropped[digits[start]]) pass[row] = 0;
    for (const [op, wanted] of uses) {
      let used = false;
      for (let place = start + 1; place < start + width; place++) used ||= digits[place] === op;
      if (used !== wanted) pass[row] = 0;
    }
    for (const [values, low, high] of ranges) {
      if (!(values[row] >= low && values[row] <= high)) pass[row] = 0;
    }
  }
  return pass;
}

// Filters: which rows pass, and the same as conditions of benchquery's query language.

/** Returns a value as conditions write it: in quotes unless it is one plain word. */
function quoted(value) {
  return /^[\w.+-]+$/.test(value) ? value : `'${value}'`;
}

/**
 * Returns the conditions that a state's filters stand for. All must hold, so a choice
 * among values is written as what is left out.
 */
export function conditions(state) {
  const texts = [];
  for (const [name, use] of Object.entries(state.uses)) {
    texts.push(use === "with" ? `${name} >= 1` : `${name} == 0`);
  }
  for (const [name, values] of Object.entries(state.dropped)) {
    for (const value of values) texts.push(`${name} != ${quoted(value)}`);
  }
  for (const [name, [low, high]] of Object.entries(state.ranges)) {
    if (low !== null) texts.push(`${name} >= ${low}`);
    if (high !== null) texts.push(`${name} <= ${high}`);
  }
  return texts;
}

/** Tells whether a state filters at all. */
export function isFiltered(state) {
  return conditions(state).length > 0;
}

/** Returns one byte a row: 1 where all filters let it pass. */
export function passing(state, table, view) {
  const pass = new Uint8Array(table.keys.length).fill(1);
  const uses = Object.entries(state.uses).map(([name, use]) => [name, use === "with"]);
  const isUsed = view.usedIn(table);
  const dropped = view
    .choices(table)
    .filter(({ name }) => state.dropped[name])
    .map(({ name, valueOf }) => [valueOf, new Set(state.dropped[name])]);
  const ranges = Object.entries(state.ranges)
    .filter(([name]) => table.values(name))
    .map(([name, [low, high]]) => [table.values(name), low ?? -Infinity, high ?? Infinity]);
  for (let row = 0; row < pass.length; row++) {
    for (const [valueOf, values] of dropped) if (values.has(valueOf(row))) pass[row] = 0;
    for (const [name, wanted] of uses) if (isUsed(row, name) !== wanted) pass[row] = 0;
    for (const [values, low, high] of ranges) {
      if (!(values[row] >= low && values[row] <= high)) pass[row] = 0;
    }
  }
  return pass;
}

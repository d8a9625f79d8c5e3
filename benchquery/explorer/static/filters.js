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

/** Returns tests of rows, by the name of what each looks at. */
function testsOf(state, table, view) {
  const isUsed = view.usedIn(table);
  const tests = Object.entries(state.uses).map(([name, use]) => [
    name,
    (row) => isUsed(row, name) === (use === "with"),
  ]);
  for (const { name, valueOf } of view.choices(table)) {
    const dropped = new Set(state.dropped[name] ?? []);
    if (dropped.size) tests.push([name, (row) => !dropped.has(valueOf(row))]);
  }
  for (const [name, [low, high]] of Object.entries(state.ranges)) {
    const values = table.values(name);
    const [least, most] = [low ?? -Infinity, high ?? Infinity];
    if (values) tests.push([name, (row) => values[row] >= least && values[row] <= most]);
  }
  return tests;
}

/**
 * Tells which rows the filters let pass.
 *
 * @returns `pass`: one byte a row, 1 where all filters let it pass; and `passesOthers(name)`: a
 *   function that tells whether all filters but that of a name let a row pass.
 */
export function passing(state, table, view) {
  const tests = testsOf(state, table, view);
  const failures = new Uint8Array(table.keys.length);
  const lastFailure = new Uint8Array(table.keys.length);
  const pass = new Uint8Array(table.keys.length);
  for (let row = 0; row < pass.length; row++) {
    for (let test = 0; test < tests.length; test++) {
      if (tests[test][1](row)) continue;
      failures[row]++;
      lastFailure[row] = test;
    }
    pass[row] = failures[row] ? 0 : 1;
  }
  const passesOthers = (name) => {
    const own = tests.findIndex(([tested]) => tested === name);
    return (row) => pass[row] === 1 || (failures[row] === 1 && lastFailure[row] === own);
  };
  return { pass, passesOthers };
}

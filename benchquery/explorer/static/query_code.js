// Python code that asks for the same rows as the page shows.

import { conditions } from "./filters.js";

/** Returns a value as Python writes it. */
export function literal(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

/** Returns the call that keeps what passes the filters of a state; nothing if all does. */
export function whereCode(state) {
  const filters = conditions(state);
  if (!filters.length) return "";
  return `.where(\n${filters.map((text) => `    ${JSON.stringify(text)},\n`).join("")})`;
}

/** Returns the call that keeps the front of the two axes. */
export function frontCode({ xColumn, yColumn }) {
  const named = (direction) => {
    const columns = [xColumn, yColumn].filter((column) => column.direction === direction);
    return JSON.stringify([...new Set(columns.map((column) => column.name))]);
  };
  return `.pareto(\n    maximise=${named("higher")},\n    minimise=${named("lower")},\n)`;
}

/** Returns the lines that open a table and, if there is one, the table it is compared with. */
export function openingLines({ table, other }, names, call) {
  return [table, other].filter(Boolean).map((opened, place) => {
    const own = opened.origin === "published" ? "" : "  # add source=FOLDER if it is not found";
    return `${names[place]} = ${call}(${JSON.stringify(opened.name)})${own}`;
  });
}

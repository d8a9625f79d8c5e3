// How large condensed data is.

/** Returns the column of a table that says so: a ratio, or how many of a class a set has. */
export function sizeOf(table) {
  return table.choices.includes("per_class") ? "per_class" : "ratio";
}

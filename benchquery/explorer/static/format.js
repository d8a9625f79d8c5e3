// Numbers and names as people read them.

const COUNT = new Intl.NumberFormat("en");
const PLAIN_UNITS = new Set([null, "1", "fraction"]);

/** Returns a whole number with thousands separators. */
export function formatCount(number) {
  return COUNT.format(number);
}

/** Returns a figure in about four digits. */
export function formatFigure(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return formatCount(value);
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toPrecision(4);
  if (size < 0.1) return String(Number(value.toPrecision(4)));
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 4);
}

/** Returns a value with every digit it has. */
export function formatExact(value) {
  if (typeof value !== "number" || Number.isNaN(value)) return formatFigure(value);
  return Number.isInteger(value) ? formatCount(value) : String(value);
}

/** Returns the unit of a column to write after its figures, or nothing. */
export function unitOf(column) {
  return PLAIN_UNITS.has(column.unit) ? "" : column.unit;
}

/** Returns a column's name with its unit, as an axis says it. */
export function columnTitle(column) {
  return unitOf(column) ? `${column.name} (${unitOf(column)})` : column.name;
}

/** Returns a name as headings write it. */
export function capitalised(name) {
  return name[0].toUpperCase() + name.slice(1);
}

/** Returns a table's name, labelled if its figures are not the published ones. */
export function titleOf(name, origin) {
  return origin === "published" ? name : `${name} (${origin})`;
}

/** Returns a figure with the unit of its column. */
export function withUnit(value, column) {
  return [formatFigure(value), unitOf(column)].filter(Boolean).join(" ");
}

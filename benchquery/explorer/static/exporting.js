// A list as a file: CSV, Parquet, or Python code that asks for the same rows.

import { make } from "./dom.js";

const PARQUET_TYPES = {
  int32: "INT32",
  int64: "INT64",
  float32: "FLOAT",
  float64: "DOUBLE",
  bool: "BOOLEAN",
  string: "STRING",
};

function csvCell(value) {
  if (typeof value === "string") return `"${value.replaceAll('"', '""')}"`;
  return Number.isNaN(value) ? "nan" : String(value);
}

/** Returns rows of a table as CSV, every digit kept. */
export function toCsv(table, rows) {
  const columns = table.columns.map((column) => table.values(column.name));
  const lines = rows.map((row) => columns.map((values) => csvCell(values[row])).join(","));
  return `${table.columns.map((column) => `"${column.name}"`).join(",")}\n${lines.join("\n")}\n`;
}

/** Returns rows of a table as a Parquet file. */
export async function toParquet(table, rows) {
  const { parquetWriteBuffer } = await import("./vendor/parquet.js");
  const columnData = table.columns.map(({ name, dtype }) => {
    const values = table.values(name);
    const data = rows.map((row) => (dtype === "int64" ? BigInt(values[row]) : values[row]));
    return { name, data, type: PARQUET_TYPES[dtype], nullable: false };
  });
  return parquetWriteBuffer({ columnData });
}

/** Makes the file of a list and hands it to the person. */
export async function save(format, state, model, rows, view) {
  const name = `${model.table.name}-${state.list}`;
  const files = {
    csv: async () => [toCsv(model.table, rows), "text/csv", `${name}.csv`],
    parquet: async () => [
      await toParquet(model.table, rows),
      "application/vnd.apache.parquet",
      `${name}.parquet`,
    ],
    python: async () => [view.python(state, model, rows), "text/x-python", `${name}.py`],
  };
  const [content, type, file] = await files[format]();
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

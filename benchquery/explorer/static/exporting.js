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

/** Returns the columns of a table, each with `name`, `dtype` and `valueOf(row)`. */
function storedColumns(table) {
  return table.columns.map(({ name, dtype }) => {
    const values = table.values(name);
    return { name, dtype, valueOf: (row) => values[row] };
  });
}

/**
 * Returns the columns of a second table, named after it, for the rows of the first. Whole numbers
 * and truths become doubles and texts, which can say that the second table lacks a row.
 */
function besideColumns(table, other, isKey) {
  const rowIn = (row) => other.rowOf.get(table.keys[row]);
  return storedColumns(other)
    .filter((column) => !isKey(column))
    .map(({ name, dtype, valueOf }) => {
      const isNumber = /^(int|float)/.test(dtype);
      return {
        name: `${name} on ${other.name}`,
        dtype: isNumber ? "float64" : "string",
        valueOf(row) {
          const there = rowIn(row);
          if (there === undefined) return isNumber ? NaN : "";
          return isNumber ? Number(valueOf(there)) : String(valueOf(there));
        },
      };
    });
}

/**
 * Returns the columns of a file in the order of benchquery's own exports: those of the key, what
 * else names the rows, the others; then those of the table that is compared with.
 */
function exported({ table, other }, view) {
  const stored = storedColumns(table);
  const isKey = ({ name }) => table.key.includes(name);
  const names = view.names(table).map((column) => ({ ...column, dtype: "string" }));
  return [
    ...stored.filter(isKey),
    ...names,
    ...stored.filter((column) => !isKey(column)),
    ...(other ? besideColumns(table, other, isKey) : []),
  ];
}

/** Returns rows of some columns as CSV, every digit kept. */
function toCsv(columns, rows) {
  const lines = rows.map((row) => columns.map(({ valueOf }) => csvCell(valueOf(row))).join(","));
  return `${columns.map(({ name }) => `"${name}"`).join(",")}\n${lines.join("\n")}\n`;
}

/** Returns rows of some columns as a Parquet file. */
async function toParquet(columns, rows) {
  const { parquetWriteBuffer } = await import("./vendor/parquet.js");
  const columnData = columns.map(({ name, dtype, valueOf }) => {
    const data = rows.map((row) => (dtype === "int64" ? BigInt(valueOf(row)) : valueOf(row)));
    return { name, data, type: PARQUET_TYPES[dtype], nullable: false };
  });
  return parquetWriteBuffer({ columnData });
}

/** Makes the file of a list and hands it to the person. */
export async function save(format, state, model, rows, view) {
  const tables = [model.table, model.other].filter(Boolean).map((table) => table.name);
  const name = `${tables.join("-")}-${state.list}`;
  const files = {
    csv: async () => [toCsv(exported(model, view), rows), "text/csv", `${name}.csv`],
    parquet: async () => [
      await toParquet(exported(model, view), rows),
      "application/vnd.apache.parquet",
      `${name}.parquet`,
    ],
    python: async () => [view.python(state, model, rows), "text/x-python", `${name}.py`],
  };
  handOver(...(await files[format]()));
}

/** Gives a file to the person. */
export function handOver(content, type, file) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// A list as a file: CSV, Parquet, or Python code that asks for the same rows.

import { make } from "./dom.js";
import { conditions } from "./filters.js";

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

/** Returns Python code that opens the same rows. */
export function toPython(state, model, rows) {
  const { table, xColumn, yColumn } = model;
  const own = table.origin === "published" ? "" : "  # add source=FOLDER if it is not found";
  const lines = [
    "from benchquery import lightread",
    "",
    `bench = lightread(${JSON.stringify(table.name)})${own}`,
  ];
  const filters = conditions(state);
  const where = filters.length
    ? `.where(\n${filters.map((text) => `    ${JSON.stringify(text)},\n`).join("")})`
    : "";
  if (state.list === "best" && !model.other) {
    lines.push(`chosen = bench${where}`);
  } else if (state.list === "front" && !model.other) {
    const named = (direction) => [
      ...new Set(
        [xColumn, yColumn]
          .filter((column) => column.direction === direction)
          .map((column) => column.name),
      ),
    ];
    lines.push(
      `chosen = bench${where}.pareto(\n    maximise=${JSON.stringify(named("higher"))},\n    minimise=${JSON.stringify(named("lower"))},\n)`,
    );
  } else {
    const hashes = rows.map((row) => table.hashes[row]);
    lines.splice(0, 0, "import numpy as np");
    lines.push(`chosen = bench.where(np.isin(bench.hashes, [${hashes.join(", ")}]))`);
  }
  lines.push("print(chosen.frame())  # needs pandas", "");
  return lines.join("\n");
}

/** Makes the file of a list and hands it to the person. */
export async function save(format, state, model, rows) {
  const name = `${model.table.name}-${state.list}`;
  const files = {
    csv: async () => [toCsv(model.table, rows), "text/csv", `${name}.csv`],
    parquet: async () => [
      await toParquet(model.table, rows),
      "application/vnd.apache.parquet",
      `${name}.parquet`,
    ],
    python: async () => [toPython(state, model, rows), "text/x-python", `${name}.py`],
  };
  const [content, type, file] = await files[format]();
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

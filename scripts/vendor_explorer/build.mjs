// Bundles each library that the page imports into one minified module, and writes down
// which packages went into it, at which versions and under which licences.
//
//   node build.mjs FOLDER

import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import esbuild from "esbuild";

const bundles = {
  arrow: `export { tableFromIPC } from "@uwdata/flechette";`,
  d3: `
    export { axisBottom, axisLeft } from "d3-axis";
    export { brushX, brushY } from "d3-brush";
    export { scaleLinear, scaleLog } from "d3-scale";
    export { interpolateViridis } from "d3-scale-chromatic";
    export { pointer, select } from "d3-selection";`,
  parquet: `
    export { parquetMetadata, parquetReadObjects } from "hyparquet";
    export { parquetWriteBuffer } from "hyparquet-writer";`,
  twgl: `
    export {
      createBufferInfoFromArrays, createProgramInfo, drawBufferInfo, setAttribInfoBufferFromArray,
      setBuffersAndAttributes, setUniforms,
    } from "twgl.js";`,
};

/** Returns the folder of the package that a bundled file belongs to. */
function packageOf(file) {
  const match = file.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//);
  return match && match[1];
}

/** Returns the name, version and licence of an installed package. */
async function describe(folder) {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, "package.json")));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  return { name, version, license, text: await readFile(path.join(folder, file), "utf8") };
}

const out = process.argv[2];
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const used = new Map();
for (const [bundle, contents] of Object.entries(bundles)) {
  const { metafile, outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    metafile: true,
    write: false,
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const folders = new Set(
    Object.entries(inputs)
      .filter(([, part]) => part.bytesInOutput > 0)
      .map(([file]) => packageOf(file)),
  );
  const packages = await Promise.all([...folders].filter(Boolean).map(describe));
  packages.sort((a, b) => a.name.localeCompare(b.name));
  for (const entry of packages) used.set(entry.name, entry);
  const names = packages.map(({ name, version }) => `${name} ${version}`).join(", ");
  const header = `// Made by scripts/vendor_explorer.sh from ${names}; licences in licences.txt.\n`;
  await writeFile(path.join(out, `${bundle}.js`), header + outputFiles[0].text);
}
const licences = [...used.values()].sort((a, b) => a.name.localeCompare(b.name));
await writeFile(
  path.join(out, "licences.txt"),
  licences
    .map(
      ({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text.trim()}\n`,
    )
    .join(`\n${"-".repeat(78)}\n\n`),
);

// The page as four files with fixed names: a build of the same sources is the same page.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, rm } from "node:fs/promises";

const out = "../src/weft/serve/static";
// What is bundled is shipped with its licence.
const licence = await readFile("node_modules/uplot/LICENSE", "utf8");
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await build({
  entryPoints: { app: "src/main.ts" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  banner: { js: `/*! uPlot. ${licence.trim()} */` },
  logLevel: "warning",
});
for (const file of ["index.html", "icon.svg"]) await copyFile(`public/${file}`, `${out}/${file}`);

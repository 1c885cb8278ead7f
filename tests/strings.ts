/** `deno task strings [PATH...]`: prints every text that a person or a model may read, with its place. */
import { fromFileUrl, relative } from "@std/path";
import { isSource } from "./size.ts";

const ROOT = fromFileUrl(new URL("..", import.meta.url));
const CONFIG = fromFileUrl(new URL("./lint/strings.json", import.meta.url));

interface Diagnostic {
  message: string;
  filename: string;
  range: { start: { line: number } };
}

const paths = Deno.args.length > 0 ? Deno.args : ["lib", "routes", "islands", "components"];
const { stdout } = await new Deno.Command(Deno.execPath(), {
  args: ["lint", "--json", "--config", CONFIG, ...paths],
  cwd: ROOT,
  stderr: "inherit",
}).output();
const { diagnostics }: { diagnostics: Diagnostic[] } = JSON.parse(new TextDecoder().decode(stdout));
const lines = diagnostics
  .map(({ message, filename, range }) => {
    const path = relative(ROOT, filename.startsWith("file:") ? fromFileUrl(filename) : filename);
    return { path, line: range.start.line, message };
  })
  .filter(({ path }) => isSource(path))
  .sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line)
  .map(({ path, line, message }) => `${path}:${line}: ${message}\n`);
await Deno.stdout.write(new TextEncoder().encode(lines.join("")));

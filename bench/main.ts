/**
 * `deno task bench [name ...]`: runs the named benchmarks, or all but `flags`, which takes long, and
 * `scanner`, which starts servers from npm.
 */
import { benchCallPath } from "./call_path.ts";
import { benchConnections } from "./connections.ts";
import { benchConsole } from "./console.ts";
import { benchEvidence } from "./evidence.ts";
import { benchFlags } from "./flags.ts";
import { benchGateway } from "./gateway.ts";
import { benchGuard } from "./guard.ts";
import { benchGrowth } from "./growth.ts";
import { benchMisbehaving } from "./misbehaving.ts";
import { benchScanner } from "./scanner/measure.ts";
import { benchSearch } from "./search.ts";
import { benchStart } from "./start.ts";

const BENCHMARKS: Record<string, () => Promise<void>> = {
  start: benchStart,
  gateway: benchGateway,
  search: benchSearch,
  console: benchConsole,
  evidence: benchEvidence,
  growth: benchGrowth,
  connections: benchConnections,
  misbehaving: benchMisbehaving,
  guard: benchGuard,
  flags: benchFlags,
  scanner: benchScanner,
  // Ends the process.
  call_path: benchCallPath,
};

const WITH_VALUE = ["--jobs", "--part", "--only", "--rounds"];
const named = Deno.args.filter((arg, at) =>
  !arg.startsWith("--") && !WITH_VALUE.includes(Deno.args[at - 1] ?? "")
);
const BY_NAME = ["flags", "scanner"];
const names = named.length > 0
  ? named
  : Object.keys(BENCHMARKS).filter((name) => !BY_NAME.includes(name));
for (const name of names) {
  const run = BENCHMARKS[name];
  if (!run) {
    report(`There is no benchmark "${name}". There are: ${Object.keys(BENCHMARKS).join(", ")}`);
    Deno.exit(2);
  }
  await run();
}

function report(line: string): void {
  // deno-lint-ignore no-console
  console.error(line);
}

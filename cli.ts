import { startGateway } from "./lib/cli/built_program.ts";
import { STDIO_FLAGS } from "./lib/cli/gateway_host.ts";
import { mayWrite, spawnAgain } from "./lib/cli/permissions.ts";
import { exitCommandWith } from "./lib/cli/terminal.ts";
import { findInformationFlag, parseCommandLine } from "./lib/config/command_line.ts";
import { IS_PACKAGE } from "./lib/core/product.ts";

/** The `quartermaster` command: runs the given command, or starts the gateway without one. */
if (startsGateway(Deno.args)) {
  await startGateway();
} else if (IS_PACKAGE && !mayWrite()) {
  // With options before the command, the launcher takes it for the start of a gateway.
  Deno.exit(await spawnAgain());
} else {
  // Loaded on demand: starting the gateway needs none of the commands.
  const { runCli } = await import("./lib/cli/quartermaster.ts");
  try {
    Deno.exit(await runCli(Deno.args));
  } catch (error) {
    exitCommandWith(error, Deno.args.includes("--json"));
  }
}

function startsGateway(args: readonly string[]): boolean {
  try {
    const { command } = parseCommandLine(args, STDIO_FLAGS);
    return command === "start" || (command === undefined && !findInformationFlag(args));
  } catch {
    // An unknown flag may belong to a command; the command's own parser reports it otherwise.
    return false;
  }
}

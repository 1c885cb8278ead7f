import { GatewayError } from "../core/errors.ts";

const encoder = new TextEncoder();

export function print(text: string): void {
  Deno.stdout.writeSync(encoder.encode(text));
}

export function printError(text: string): void {
  Deno.stderr.writeSync(encoder.encode(text));
}

/** Says in one sentence what went wrong: 2 for what the user can correct, 1 for what is our fault. */
export function exitWith(error: unknown): never {
  if (error instanceof GatewayError && error.code !== "INTERNAL") {
    printError(`quartermaster: ${error.message}\n`);
    const { recoverySteps } = error.details;
    if (recoverySteps) printError(recoverySteps.map((step) => `  ${step}\n`).join(""));
    Deno.exit(2);
  }
  printError(`quartermaster: ${error instanceof Error ? error.stack ?? error.message : error}\n`);
  Deno.exit(1);
}

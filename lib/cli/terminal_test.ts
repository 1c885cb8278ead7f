import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { errorLines, inert, table } from "./terminal.ts";

Deno.test("inert() leaves nothing that steers a terminal", () => {
  assert.equal(
    inert("\x1b[31mred\x1b[0m \x1b]0;title\x07\x9b2Jtext\r\n\tend"),
    "red ]0;title2Jtext\n\tend",
  );
});

Deno.test("printError() goes on where nobody reads stderr any more", async () => {
  const module = new URL("./terminal.ts", import.meta.url).href;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      "-q",
      `import { printError } from "${module}";
      await Deno.stdin.read(new Uint8Array(1));
      printError("lost");
      Deno.exit(3);`,
    ],
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  await child.stderr.cancel();
  await child.stdin.close();
  assert.equal((await child.status).code, 3);
});

Deno.test("table() lines up columns, colored or not", () => {
  const rows = [["a", "one", "x"], ["\x1b[32mlonger\x1b[39m", "b", ""]];
  assert.equal(table(rows), "a       one  x\n\x1b[32mlonger\x1b[39m  b\n");
  assert.equal(table([]), "");
});

Deno.test("errorLines() says what to do, in steps or in one word", () => {
  const recoveryAction = "Stop it, then try again";
  const message = "Cannot restore";
  const text = (details: object) =>
    errorLines(new GatewayError("OPERATION_IN_PROGRESS", { message, ...details }));
  assert.equal(
    text({ recoveryAction }),
    "quartermaster: Cannot restore\n  Stop it, then try again\n",
  );
  assert.equal(
    text({ recoveryAction, recoverySteps: ["First"], hint: "a\nb" }),
    "quartermaster: Cannot restore\n  First\n  a\n  b\n",
  );
  assert.equal(text({}), "quartermaster: Cannot restore\n");
  assert.equal(
    text({ message: "Unknown option --prot. Did you mean --port?", hint: "Did you mean --port?" }),
    "quartermaster: Unknown option --prot. Did you mean --port?\n",
    "advice that the message gives is not repeated",
  );
});

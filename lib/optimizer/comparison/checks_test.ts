import assert from "node:assert/strict";
import { failedCheck, runCheckCommand, type TaskOutcome } from "./checks.ts";
import type { TaskCheck } from "../../core/task_comparison.ts";

const OUTCOME: TaskOutcome = {
  answer: "Ada has two Loans",
  calls: [
    { tool: "library.list_loans", arguments: { member: "Ada", page: 1 }, failed: false },
    { tool: "library.renew", arguments: {}, failed: true },
  ],
};
const owner = {
  markerEnv: {},
  announce: () => Promise.resolve({ started() {}, [Symbol.asyncDispose]: () => Promise.resolve() }),
} as unknown as Parameters<typeof runCheckCommand>[2]["owner"];

function run(
  command: readonly string[],
  timeoutMs = 10_000,
  signal = new AbortController().signal,
) {
  const env = { PATH: Deno.env.get("PATH") ?? "" };
  return runCheckCommand(command, OUTCOME, { cwd: Deno.cwd(), env, owner, signal, timeoutMs });
}

Deno.test("failedCheck() says which check does not hold, and why", async () => {
  const checks: [TaskCheck, RegExp | undefined][] = [
    [{ contains: "two loans" }, undefined],
    [{ contains: "three" }, /does not contain "three"/],
    [{ matches: "^ada .* loans$" }, undefined],
    [{ matches: "^loans" }, /does not match/],
    [{ called: "library.list_loans" }, undefined],
    [{ called: "library.list_loans", arguments: { member: "ada" } }, undefined],
    [{ called: "library.list_loans", arguments: { member: "Bob" } }, /other arguments/],
    [{ called: "library.renew" }, /called without success/],
    [{ called: "office.send_fax" }, /was not called/],
  ];
  for (const [check, problem] of checks) {
    const found = await failedCheck({ checks: [check] }, OUTCOME, () => Promise.resolve("no"));
    if (problem === undefined) assert.equal(found, undefined, JSON.stringify(check));
    else assert.match(found ?? "", problem);
  }
});

Deno.test("a check's program gets the outcome on stdin, and decides with its exit code", async () => {
  assert.equal(await run(["grep", "-q", "two Loans"]), undefined);
  assert.match(await run(["sh", "-c", "echo too few >&2; exit 3"]) ?? "", /exit code 3: too few/);
  assert.match(await run(["no-such-program-here"]) ?? "", /cannot be started/);
  assert.match(await run(["sleep", "60"], 100) ?? "", /did not end within 0.1 s/);
});

Deno.test("a check's program ends with the comparison", async () => {
  const stopping = new AbortController();
  const running = run(["sleep", "60"], 60_000, stopping.signal);
  stopping.abort(new Error("cancelled"));
  await assert.rejects(running, /cancelled/);
});

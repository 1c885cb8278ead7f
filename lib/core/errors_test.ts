import assert from "node:assert/strict";
import { ERROR_CODES, GatewayError } from "./errors.ts";

Deno.test("GatewayError gives every code a status, a sentence and a way out", () => {
  for (const code of ERROR_CODES) {
    const error = new GatewayError(code);
    const body = error.toBody();
    assert.equal(body.errorType, code);
    assert.ok(error.httpStatus >= 400 && error.httpStatus < 600, code);
    assert.ok(error.rpcCode < 0, code);
    assert.ok(body.message.length > 5 && body.recoveryAction.length > 5, code);
    assert.deepEqual(body.recoverySteps, [body.recoveryAction]);
  }
});

Deno.test("GatewayError.toBody() carries the details it was given and nothing of the cause", () => {
  const body = new GatewayError("TOOL_NOT_FOUND", {
    message: 'There is no tool "git.stats"',
    hint: "Did you mean git.status?",
    recoverySteps: ["Call tool_discovery"],
    suggestedTools: ["tool_discovery"],
    retryAfterSeconds: 7,
    cause: new Error("hunter2"),
  }).toBody();
  assert.deepEqual(body, {
    errorType: "TOOL_NOT_FOUND",
    message: 'There is no tool "git.stats"',
    recoveryAction: "Check the name, or search for the tool",
    recoverySteps: ["Call tool_discovery"],
    hint: "Did you mean git.status?",
    suggestedTools: ["tool_discovery"],
    retryAfterSeconds: 7,
  });
});

Deno.test("GatewayError.from() hides the text of what is not ours", () => {
  const error = GatewayError.from(new Error("password is hunter2"));
  assert.equal(error.code, "INTERNAL");
  assert.ok(!JSON.stringify(error.toBody()).includes("hunter2"));
  const own = new GatewayError("TIMEOUT");
  assert.equal(GatewayError.from(own), own);
});

Deno.test({
  name: "GatewayError.from() says what Deno does not permit, and what to do",
  permissions: { read: true, write: [], net: [] },
  async fn() {
    const refused = async (work: () => Promise<unknown>) =>
      GatewayError.from(await work().then(() => undefined, (error) => error)).toBody();
    const write = await refused(() => Deno.writeTextFile("/outside/file", ""));
    assert.equal(write.message, 'The gateway is not permitted to write "/outside/file"');
    assert.match(write.recoveryAction, /--allow-write/);
    const temporary = await refused(() => Deno.makeTempDir());
    assert.equal(temporary.message, "The gateway is not permitted to write the temporary folder");
    const connect = await refused(() => fetch("https://later.example/mcp?token=secret"));
    assert.equal(
      connect.message,
      'The gateway is not permitted to connect to "later.example:443"',
    );
    assert.match(connect.recoveryAction, /without --harden/);
  },
});

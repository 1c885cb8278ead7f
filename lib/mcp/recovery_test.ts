import assert from "node:assert/strict";
import { RightMissing } from "../auth/grants.ts";
import { LIST_AGAIN } from "../catalog/resolve.ts";
import { ERROR_CODES, GatewayError } from "../core/errors.ts";
import { BUILTIN_NAMES } from "./builtin_names.ts";
import { withFollowableAdvice } from "./recovery.ts";

function explained(error: GatewayError, ...listed: string[]): GatewayError {
  const shown = withFollowableAdvice(error, new Set(listed));
  assert.ok(shown instanceof GatewayError);
  return shown;
}

Deno.test("withFollowableAdvice() never names a tool that is not listed, whatever the error", () => {
  const views = [
    ["tool_discovery", "tool_execute", "tool_capabilities"],
    ["list_available_tools", "get_tool_description", "tool_execute"],
    ["optim.find_tool", "optim.call_tool"],
    ["discover-all-tools", "build-toolset"],
    ["list_servers", "get_server_logs"],
    [],
  ];
  for (const code of ERROR_CODES) {
    const error = new GatewayError(code, {
      recoveryAction: "Use tool_discovery",
      recoverySteps: BUILTIN_NAMES.map((name) => `Call ${name} again`),
      hint: "optim.find_tool helps",
      suggestedTools: [...BUILTIN_NAMES, "git_status"],
    });
    for (const listed of views) {
      const { suggestedTools = [], ...body } = explained(error, ...listed).toBody();
      const text = JSON.stringify(body);
      const named = BUILTIN_NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
      assert.deepEqual(named.filter((name) => !listed.includes(name)), [], `${code} at ${listed}`);
      assert.ok(suggestedTools.every((name) => name === "git_status" || listed.includes(name)));
      assert.ok(body.recoverySteps.length > 0);
    }
  }
});

Deno.test("withFollowableAdvice() names the view's own tool for the next step", () => {
  const missing = new GatewayError("TOOL_NOT_FOUND", { recoverySteps: [LIST_AGAIN] });
  const steps = (...listed: string[]) => explained(missing, ...listed).toBody().recoverySteps;
  assert.deepEqual(steps("tool_discovery"), ["Find the tool with tool_discovery"]);
  assert.deepEqual(steps("list_available_tools"), ["Find the tool with list_available_tools"]);
  assert.deepEqual(steps(), [LIST_AGAIN], "where everything is listed, the list is the way");
  const down = explained(new GatewayError("SERVER_DISCONNECTED"), "tool_capabilities");
  assert.deepEqual(down.toBody().suggestedTools, ["tool_capabilities"]);
});

Deno.test("withFollowableAdvice() keeps errors that say more by their class", () => {
  const error = new RightMissing("call", "Calling a tool");
  assert.equal(withFollowableAdvice(error, new Set()), error);
  const foreign = new Error("boom");
  assert.equal(withFollowableAdvice(foreign, new Set()), foreign);
});

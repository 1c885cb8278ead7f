import assert from "node:assert/strict";
import { Approvals } from "../surfaces/call_control/approvals.ts";
import { gatedCall, testPort } from "../surfaces/call_control/testing/gated_call.ts";
import { approvalsPage, decideApproval, readApprovalAction } from "./security_approvals.ts";

type TestGateway = Parameters<typeof approvalsPage>[0];

function stub(approvals: Approvals) {
  const set: unknown[] = [];
  const gateway = {
    approvals: () => Promise.resolve(approvals),
    access: { nameOf: (principal: string) => `name of ${principal}` },
    toolsetModes: {
      of: (name: string) => name === "dev" ? "confirm" : "all",
      set(...given: unknown[]) {
        set.push(given);
        return Promise.resolve();
      },
    },
    toolsets: {
      toolsets: {
        list: () => [{ name: "dev" }, { name: "ops" }],
        resolve: (name: string) => ({ name }),
      },
    },
  } as unknown as TestGateway;
  return { gateway, set };
}

Deno.test("approvalsPage() shows each call with its arguments as they came, on lines", async () => {
  const approvals = new Approvals({ mask: (json) => json });
  const { gateway } = stub(approvals);
  const args = '{"n":12345678901234567890,"n":1}';
  const call = gatedCall({ args, port: testPort({ principal: "token:a" }) });
  const wait = approvals.wait(call);
  const { calls: [shown], toolsets } = await approvalsPage(gateway);
  assert.equal(shown?.arguments, '{\n  "n": 12345678901234567890,\n  "n": 1\n}');
  assert.equal(shown?.who, "name of token:a");
  assert.deepEqual(toolsets, [{ name: "dev", mode: "confirm" }, { name: "ops", mode: "all" }]);
  call.leave();
  await assert.rejects(wait);
});

Deno.test("decideApproval() decides a call, sets a mode, and says what was done", async () => {
  const approvals = new Approvals({ mask: (json) => json });
  const { gateway, set } = stub(approvals);
  const wait = approvals.wait(gatedCall());
  const { id } = approvals.list()[0]!;
  const decided = readApprovalAction({ action: "deny", id });
  assert.equal(await decideApproval(gateway, decided, {}), "Denied: commit of git");
  assert.equal(await wait, "denied");
  const mode = readApprovalAction({ action: "mode", toolset: "dev", mode: "read-only" });
  const by = { principal: "token:a" };
  assert.equal(await decideApproval(gateway, mode, by), "Calls through dev: read-only");
  assert.deepEqual(set, [["dev", "read-only", by]]);
});

Deno.test("readApprovalAction() refuses what cannot be done", () => {
  for (const input of [{}, { action: "approve" }, { action: "mode", toolset: "x", mode: "none" }]) {
    assert.throws(() => readApprovalAction(input), { code: "INVALID_ARGUMENTS" });
  }
});

import assert from "node:assert/strict";
import { Approvals } from "../../../../../lib/trust/call_control/approvals.ts";
import {
  pendingCall,
  testClient,
} from "../../../../../lib/trust/call_control/testing/pending_call.ts";
import { callBy, servicesOf } from "../../../../../lib/operations/testing/services.ts";
import { decideByForm } from "../../../../../lib/console/form_page.ts";
import { APPROVAL_DECISIONS, approvalsPage } from "./model.ts";

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
  const call = pendingCall({ args, client: testClient({ principal: "token:a" }) });
  const wait = approvals.wait(call);
  const { calls: [shown], toolsets } = await approvalsPage(gateway);
  assert.equal(shown?.arguments, '{\n  "n": 12345678901234567890,\n  "n": 1\n}');
  assert.equal(shown?.who, "name of token:a");
  assert.deepEqual(toolsets, [{ name: "dev", mode: "confirm" }, { name: "ops", mode: "all" }]);
  call.leave();
  await assert.rejects(wait);
});

Deno.test("decideByForm() decides a call or sets a mode, and refuses what cannot be done", async () => {
  const approvals = new Approvals({ mask: (json) => json });
  const { gateway, set } = stub(approvals);
  const wait = approvals.wait(pendingCall());
  const { id } = approvals.own[0]!;
  const { toolsets, toolsetModes } = gateway;
  const services = servicesOf({ approvals: gateway.approvals, toolsets, toolsetModes });
  const decide = (form: Record<string, string>) =>
    decideByForm(APPROVAL_DECISIONS, services, new URLSearchParams(form), callBy("token:a"));
  await decide({ action: "deny", id });
  assert.equal(await wait, "denied");
  await decide({ action: "mode", toolset: "dev", mode: "read-only" });
  assert.deepEqual(set, [["dev", "read-only"]]);
  await assert.rejects(decide({}), { code: "INVALID_ARGUMENTS" });
  await assert.rejects(decide({ action: "approve" }), { code: "INVALID_ARGUMENTS" });
  await assert.rejects(decide({ action: "mode", toolset: "x", mode: "none" }), {
    code: "INVALID_ARGUMENTS",
  });
});

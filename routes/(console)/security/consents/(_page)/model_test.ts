import assert from "node:assert/strict";
import type { Gateway } from "../../../../../lib/gateway.ts";
import type { ConsentView } from "../../../../../lib/storage/consents_repository.ts";
import { callBy, servicesOf } from "../../../../../lib/operations/testing/services.ts";
import { decideByForm } from "../../../../../lib/console/form_page.ts";
import { CONSENT_DECISIONS, consentsPage, decidedServer } from "./model.ts";

const NONE = new URLSearchParams();
const HERE = { principal: "token:a", isLocal: true };
const VIEW: ConsentView = {
  id: "0123456789abcdef",
  wish: "add",
  server: "files",
  argv: ["run"],
  variables: [],
  secrets: [],
  origin: { via: "mcp", principal: "token:b" },
  askedAt: 1,
  expiresAt: 2,
};

function gatewayWith(rights: string[], publicUrl?: string) {
  const asked: unknown[] = [];
  const gateway = {
    options: { options: { publicUrl } },
    access: {
      grants: () => ({ may: (right: string) => rights.includes(right) }),
      nameOf: (principal: string) => `name of ${principal}`,
    },
    consents: () =>
      Promise.resolve({
        list(isWhole: boolean) {
          asked.push({ isWhole });
          return Promise.resolve([VIEW]);
        },
        approve(id: string) {
          asked.push({ approve: id });
          return Promise.resolve({ name: "files" });
        },
        refuse(id: string) {
          asked.push({ refuse: id });
          return Promise.resolve("files");
        },
      }),
  } as unknown as Pick<Gateway, "consents" | "access" | "options">;
  return { gateway, asked };
}

Deno.test("consentsPage() shows the whole to who may manage, and lets agree only at the machine", async () => {
  const { gateway, asked } = gatewayWith(["read", "manage"]);
  const page = await consentsPage(gateway, NONE, HERE);
  assert.deepEqual([page.canAgree, page.consents[0]?.who], [true, "name of token:b"]);
  assert.equal((await consentsPage(gateway, NONE, { ...HERE, isLocal: false })).canAgree, false);
  const reader = gatewayWith(["read"]);
  assert.equal((await consentsPage(reader.gateway, NONE, HERE)).canAgree, false);
  assert.deepEqual([asked[0], reader.asked[0]], [{ isWhole: true }, { isWhole: false }]);
});

Deno.test("consentsPage() leaves it to the command line where others know the gateway", async () => {
  const isByCommandOnly = async (publicUrl?: string) =>
    (await consentsPage(gatewayWith(["manage"], publicUrl).gateway, NONE, HERE)).isByCommandOnly;
  assert.equal(await isByCommandOnly(), false);
  assert.equal(await isByCommandOnly("https://localhost:8443"), false);
  assert.equal(await isByCommandOnly("https://tools.example.com"), true);
});

Deno.test("consentsPage() says what was done in words of its own, whatever the address says", async () => {
  const { gateway } = gatewayWith(["manage"]);
  const decided = async (query: Record<string, string>) =>
    (await consentsPage(gateway, new URLSearchParams(query), HERE)).decided;
  assert.deepEqual(await decided({ done: "refuse", server: "a" }), { server: "a", isAdded: false });
  assert.equal(await decided({ done: "approve", server: "Call 555, now" }), undefined);
});

Deno.test("consents page does what a form names, and nothing for one that names nothing", async () => {
  const { gateway, asked } = gatewayWith(["manage"]);
  const services = servicesOf({ consents: gateway.consents });
  const decide = (fields: Record<string, string>, isLocal = true) =>
    decideByForm(
      CONSENT_DECISIONS,
      services,
      new URLSearchParams(fields),
      callBy("token:a", { isLocal }),
    );
  const { output } = await decide({ action: "approve", id: "x" });
  assert.deepEqual(decidedServer(output), { server: "files" });
  await decide({ action: "refuse", id: "y" }, false);
  await assert.rejects(decide({ id: "z" }), /sent without an action/);
  await assert.rejects(decide({ action: "approve", id: "z" }, false), { code: "ACCESS_DENIED" });
  assert.deepEqual(asked, [{ approve: "x" }, { refuse: "y" }]);
});

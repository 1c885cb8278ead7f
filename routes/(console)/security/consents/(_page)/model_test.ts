import assert from "node:assert/strict";
import type { Gateway } from "../../../../../lib/gateway.ts";
import { GatewayError } from "../../../../../lib/core/errors.ts";
import type { ConsentView } from "../../../../../lib/storage/consents_repository.ts";
import { callBy, servicesOf } from "../../../../../lib/operations/testing/services.ts";
import { consentsPage, decideConsent } from "./model.ts";

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
  const page = await consentsPage(gateway, HERE);
  assert.deepEqual([page.canAgree, page.consents[0]?.who], [true, "name of token:b"]);
  assert.equal((await consentsPage(gateway, { ...HERE, isLocal: false })).canAgree, false);
  const reader = gatewayWith(["read"]);
  assert.equal((await consentsPage(reader.gateway, HERE)).canAgree, false);
  assert.deepEqual([asked[0], reader.asked[0]], [{ isWhole: true }, { isWhole: false }]);
});

Deno.test("consentsPage() leaves it to the command line where others know the gateway", async () => {
  const isByCommandOnly = async (publicUrl?: string) =>
    (await consentsPage(gatewayWith(["manage"], publicUrl).gateway, HERE)).isByCommandOnly;
  assert.equal(await isByCommandOnly(), false);
  assert.equal(await isByCommandOnly("https://localhost:8443"), false);
  assert.equal(await isByCommandOnly("https://tools.example.com"), true);
});

Deno.test("consentsPage() says what was done in words of its own, whatever the address says", async () => {
  const { gateway } = gatewayWith(["manage"]);
  const done = async (query: Record<string, string>) =>
    (await consentsPage(gateway, HERE, new URLSearchParams(query))).done;
  assert.deepEqual(await done({ done: "refuse", server: "a" }), {
    decision: "refuse",
    server: "a",
  });
  assert.equal(await done({ done: "won a prize", server: "a" }), undefined);
  assert.equal(await done({ done: "approve", server: "Call 555, now" }), undefined);
  const failed = await consentsPage(gateway, HERE, undefined, new GatewayError("ACCESS_DENIED"));
  assert.equal(failed.error?.code, "ACCESS_DENIED");
});

Deno.test("decideConsent() does what a form names, and nothing for one that names nothing", async () => {
  const { gateway, asked } = gatewayWith(["manage"]);
  const services = servicesOf({ consents: gateway.consents });
  const decide = (fields: Record<string, string>, isLocal = true) =>
    decideConsent(services, new URLSearchParams(fields), callBy("token:a", { isLocal }));
  const done = await decide({ decision: "approve", id: "x" });
  assert.equal(String(done), "done=approve&server=files");
  await decide({ decision: "refuse", id: "y" }, false);
  await assert.rejects(decide({ id: "z" }), /does not say what to do/);
  await assert.rejects(decide({ decision: "approve", id: "z" }, false), { code: "ACCESS_DENIED" });
  assert.deepEqual(asked, [{ approve: "x" }, { refuse: "y" }]);
});

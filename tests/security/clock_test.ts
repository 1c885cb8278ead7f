import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { hashOf, newTokenText, ownerTicket } from "../../lib/auth/credentials.ts";
import { buildAuth } from "../../lib/auth/module.ts";
import { Catalog } from "../../lib/catalog/catalog.ts";
import { NameTable } from "../../lib/catalog/name_table.ts";
import { ToolKeys } from "../../lib/catalog/tool_keys.ts";
import type { Options } from "../../lib/config/option_table.ts";
import type { Platform } from "../../lib/config/platform.ts";
import { ConsentsRepository } from "../../lib/storage/consents_repository.ts";
import { AesBox } from "../../lib/storage/sealing.ts";
import { signingSecret } from "../../lib/storage/secrets_repository.ts";
import { GivenLinksRepository } from "../../lib/storage/servers_repository.ts";
import { Store } from "../../lib/storage/store.ts";
import { Consents } from "../../lib/trust/consents.ts";

const DAY_MS = 24 * 60 * 60_000;
const LATER_MS = 30 * DAY_MS;
const RUN = { pid: 7, startedAt: 1_000 };

function tableOf(name: string): NameTable {
  const catalog = new Catalog();
  catalog.setListed("git", [JSON.stringify({ name, inputSchema: { type: "object" } })]);
  return new NameTable(catalog.snapshot.servers, { reserved: new Set(), maxLength: 60 });
}

Deno.test("a clock that is set back revives no token, login, tool key, ticket, consent request or link", async () => {
  const real = Date.now;
  await using store = await Store.open({ location: ":memory:" });
  const secret = await signingSecret(store);
  await using auth = await buildAuth({
    store,
    options: { requireToken: true, host: "127.0.0.1" } as Options,
    platform: { name: "local" } as unknown as Platform,
    address: "",
    run: RUN,
    challenge: () => undefined,
    mailbox: { handle() {}, askAll: () => Promise.resolve([]) },
    bus: new EventEmitter(),
    onWarning: () => {},
  });
  const consents = new Consents({
    repository: new ConsentsRepository(store, () => AesBox.of(new Uint8Array(32).fill(1))),
    sign: (text) => Promise.resolve(hashOf(text).slice(0, 16)),
    address: "http://here",
    find: () => undefined,
    apply: () => Promise.reject(new Error("Nothing is approved here")),
  });
  const links = new GivenLinksRepository(store);
  const keys = new ToolKeys(secret);
  const table = tableOf("status");
  const text = newTokenText();
  await auth.tokens.add(() => ({
    id: "abcdefgh",
    name: "laptop",
    hash: hashOf(text),
    scope: { rights: ["read"], servers: ["*"], toolsets: ["*"], tools: ["*"] },
    createdAt: Date.now(),
    expiresAt: Date.now() + DAY_MS,
  }));
  await auth.load();
  const ticket = ownerTicket(secret, RUN);
  const { cookie } = await auth.consoleLogins.begin("token:abcdefgh");
  const key = keys.issue(table.find("git", "status")!, "ann");
  await consents.ask({
    wish: "add",
    name: "files",
    spec: { type: "stdio", command: "npx", args: [], env: {} },
    origin: { via: "mcp", principal: "token:abcdefgh", from: "MCP at /gateway" },
  });
  await links.note({ principal: "ann", uri: "file:///a", server: "git" });

  /** What is valid now. */
  const valid = async () => {
    const works = async (work: () => unknown) => {
      try {
        return await work() !== undefined;
      } catch {
        return false;
      }
    };
    return {
      token: await works(() => auth.access.identify(`Bearer ${text}`)),
      ticket: await works(() => auth.access.identify(`Bearer ${ticket}`)),
      login: await works(() => auth.consoleLogins.find(cookie)),
      toolKey: await works(() => keys.resolve(key, "ann", table)),
      consent: (await consents.list(true)).length > 0,
      link: (await links.serversOf("ann", "file:///a")).length > 0,
    };
  };
  const all = (value: boolean) => {
    const names = ["token", "ticket", "login", "toolKey", "consent", "link"];
    return Object.fromEntries(names.map((name) => [name, value]));
  };
  assert.deepEqual(await valid(), all(true));
  try {
    Date.now = () => real() + LATER_MS;
    assert.deepEqual(await valid(), all(false));
    Date.now = real;
    assert.deepEqual(await valid(), all(false), "the clock was set back");
    Date.now = () => real() - LATER_MS;
    await auth.load();
    assert.deepEqual(await valid(), all(false), "it was set back further");
  } finally {
    Date.now = real;
  }
});

import assert from "node:assert/strict";
import { at, tool } from "../combined_endpoints.ts";
import { chaos } from "../faults.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { bearer, Guarded } from "./guarded.ts";

const ELSEWHERE = { "x-forwarded-for": "192.0.2.7" };
const KEY = "${secret:KEY}";
const OTHER = "${secret:OTHER}";
/** Kept outside the gateway, which must not be asked for any of them. */
const OUTSIDE = ["${keychain:OTHER}", "${vault:secret/app#OTHER}", "${op://Vault/Item/OTHER}"];

let server: ScriptedServer;
let other: ScriptedServer;
let guarded: Guarded;

Deno.test.beforeAll(async () => {
  [server, other] = [new ScriptedServer([tool("echo")]), new ScriptedServer([tool("echo")])];
  guarded = await Guarded.open({});
  for (const name of ["KEY", "OTHER"]) {
    const { status } = await guarded.api("PUT", `/api/secrets/${name}`, { value: `of ${name}` });
    assert.ok(status < 300);
  }
});

Deno.test.afterAll(async () => {
  await guarded?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
});

async function change(name: string, entry: unknown): Promise<[status: number, text: string]> {
  const response = await fetch(`${guarded.url}/api/servers/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json", ...bearer(guarded.owner), ...ELSEWHERE },
    body: JSON.stringify(entry),
  });
  return [response.status, await response.text()];
}

Deno.test("from elsewhere an entry is changed that names secrets, as long as it names them as before", async () => {
  const url = `${server.url}?key=${KEY}`;
  const remote = { ...at(server), url, headers: { "x-key": `Bearer ${KEY}` } };
  const added = await guarded.api("POST", "/api/servers", { name: "far", ...remote });
  assert.equal(added.status, 201, JSON.stringify(added.value));
  for (
    const entry of [
      { ...remote, timeoutMs: 5_000 },
      { ...remote, headers: { ...remote.headers, "x-plain": "1" } },
      { ...remote, url: server.url },
    ]
  ) {
    const [status, text] = await change("far", entry);
    assert.equal(status, 200, text);
  }
  const restored = await guarded.api("PUT", "/api/servers/far", remote);
  assert.equal(restored.status, 200, JSON.stringify(restored.value));
  const moved = [
    { ...remote, headers: { "x-key": OTHER } },
    { ...remote, headers: { ...remote.headers, "x-more": KEY } },
    { ...remote, headers: { "x-other": `Bearer ${KEY}` } },
    { ...remote, url: `${server.url}?other=${OTHER}` },
    ...OUTSIDE.map((reference) => ({ ...remote, headers: { "x-key": reference } })),
    { ...remote, url: other.url },
    { ...remote, url: `${other.url}?key=${KEY}`, headers: {} },
  ];
  for (const entry of moved) {
    const [status, text] = await change("far", entry);
    assert.equal(status, 403, `${JSON.stringify(entry)} ${text}`);
    assert.match(
      text,
      /The secret (keychain:|vault:secret\/app#|op:\/\/Vault\/Item\/)?(KEY|OTHER) can be given to a server only/,
    );
  }
  assert.equal((await change("nobody", remote))[0], 404);
});

Deno.test("from elsewhere a program keeps the secrets that it has, and gets no other", async () => {
  const plain = chaos();
  const program = { ...plain, args: [...plain.args, `--token=${KEY}`], env: { API_KEY: KEY } };
  const added = await guarded.api("POST", "/api/servers", { name: "near", ...program });
  assert.equal(added.status, 201, JSON.stringify(added.value));
  const [status, text] = await change("near", { ...program, timeoutMs: 5_000 });
  assert.equal(status, 200, text);
  for (
    const entry of [
      { ...program, env: { API_KEY: OTHER } },
      ...OUTSIDE.map((reference) => ({ ...program, env: { API_KEY: reference } })),
      { ...program, env: { ...program.env, MORE: KEY } },
      { ...program, args: [...program.args, OTHER] },
      { ...program, args: [...program.args, "more"] },
      { ...program, command: "sh" },
    ]
  ) assert.equal((await change("near", entry))[0], 403, JSON.stringify(entry));
});

import assert from "node:assert/strict";
import { startCommand, startGateway, until } from "../gateway.ts";
import { bearer, Guarded } from "./guarded.ts";

const ADMIN = "chosen-by-a-person-1";

async function status(url: string, token: string): Promise<number> {
  const response = await fetch(url, { headers: bearer(token) });
  await response.body?.cancel();
  return response.status;
}

for (const path of ["/api/status", "/mcp", "/metrics"]) {
  Deno.test(`wrong tokens at ${path} are slowed, and a right guess is not told apart`, async () => {
    await using gateway = await startGateway(["--require-token"], {
      env: { QUARTERMASTER_ADMIN_TOKEN: ADMIN },
    });
    const url = `${gateway.url}${path}`;
    const seen = new Set<number>();
    for (let nth = 0; nth < 30; nth++) seen.add(await status(url, `wrong-token-number-${nth}`));
    assert.deepEqual([...seen], [401, 429]);
    const refused = await fetch(url, { headers: bearer("another-wrong-token") });
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    assert.match(await refused.text(), /Too many wrong tokens: try again in \d+ s/);
    assert.equal(await status(url, ADMIN), 429);
  });
}

Deno.test("wrong logins at one gateway count at every gateway on the store", async () => {
  const options = { env: { QUARTERMASTER_ADMIN_TOKEN: ADMIN } };
  await using first = await startGateway(["--require-token"], options);
  await using second = await startGateway(["--require-token"], {
    ...options,
    dataDir: first.dataDir,
  });
  const login = async (token: string) => {
    const response = await fetch(`${second.url}/login`, {
      method: "POST",
      body: new URLSearchParams({ token }),
      headers: { origin: new URL(second.url).origin },
      redirect: "manual",
    });
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(await login(ADMIN), 303);
  for (let nth = 0; nth < 5; nth++) {
    const response = await fetch(`${first.url}/login`, {
      method: "POST",
      body: new URLSearchParams({ token: `wrong-token-number-${nth}` }),
      headers: { origin: new URL(first.url).origin },
    });
    await response.body?.cancel();
  }
  await until(async () => await login(ADMIN) === 429 || undefined);
});

Deno.test("those who have a token are not slowed by those who guess", async () => {
  await using guarded = await Guarded.open({});
  const url = `${guarded.url}/api/servers`;
  while (await status(url, crypto.randomUUID()) !== 429);
  assert.equal(await status(url, guarded.owner), 200);
  const { text } = await guarded.token({ rights: ["read"] });
  assert.equal(await status(url, text), 200, "nor is one that it sees for the first time");
});

Deno.test("a gateway that refuses to serve without a token does so before it listens", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const free = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = free.addr;
  free.close();
  const child = new Deno.Command(Deno.execPath(), {
    args: [...startCommand(), "--require-token", "--port", String(port), "--data-dir", folder],
    cwd: folder,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let isOver = false;
  const ended = child.output().finally(() => isOver = true);
  let connected = 0;
  while (!isOver) {
    const tried = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => undefined);
    if (tried) connected++;
    tried?.close();
  }
  const { code, stderr } = await ended;
  assert.match(new TextDecoder().decode(stderr), /Cannot serve on 127\.0\.0\.1: .*token/);
  assert.deepEqual([code, connected], [2, 0]);
  await Deno.remove(folder, { recursive: true });
});

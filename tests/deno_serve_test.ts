import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { join } from "@std/path";
import { until } from "./gateway.ts";
import { ROOT } from "./terminal.ts";

/** Runs the built console as `deno serve` does, which Deno Deploy's preset for Fresh may do, too. */
async function denoServe(env: Record<string, string>, run: (served: Served) => Promise<void>) {
  const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const { port } = freePort();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["serve", "-A", "--host", "127.0.0.1", "--port", `${port}`, "_fresh/server.js"],
    // Deno takes the import map of the folder it is in.
    cwd: ROOT,
    env: {
      QUARTERMASTER_PORT: `${port}`,
      QUARTERMASTER_DATA_DIR: dataDir,
      QUARTERMASTER_LOG_FORMAT: "json",
      QUARTERMASTER_EMBEDDINGS: "none",
      XDG_CONFIG_HOME: dataDir,
      ...env,
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let text = "";
  const reading = (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) text += chunk;
  })();
  const ended = async () => {
    const limit = setTimeout(() => child.kill("SIGKILL"), 60_000);
    const status = await child.status;
    clearTimeout(limit);
    await reading;
    return status;
  };
  try {
    await run({ url: `http://127.0.0.1:${port}`, child, dataDir, log: () => text, ended });
  } finally {
    try {
      child.kill("SIGKILL");
    } catch { /* it has ended by itself */ }
    await ended();
    await Deno.remove(dataDir, { recursive: true });
  }
}

interface Served {
  url: string;
  child: Deno.ChildProcess;
  dataDir: string;
  log(): string;
  ended(): Promise<Deno.CommandStatus>;
}

function freePort(): Deno.NetAddr {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr;
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`deno serve stops on ${signal}, with what it held released`, () =>
    denoServe({}, async ({ url, child, dataDir, log, ended }) => {
      // Before any page was asked for, its servers are on their way.
      await until(() => /"msg":"Server ready"/.test(log()) ? true : undefined);
      assert.match(await (await fetch(url)).text(), /weather/);
      child.kill(signal);
      const { code } = await ended();
      assert.equal(code, 0, log());
      assert.match(log(), /"msg":"Stopped"/);
      using kv = await Deno.openKv(join(dataDir, "quartermaster.kv"));
      const leases = await Array.fromAsync(kv.list({ prefix: ["leases"] }));
      assert.deepEqual(leases, []);
    }));
}

Deno.test("deno serve refuses to listen beyond loopback without a token, as start does", () =>
  denoServe({ QUARTERMASTER_REQUIRE_TOKEN: "true" }, async ({ log, ended }) => {
    const { code } = await ended();
    assert.equal(code, 2, log());
    assert.match(log(), /^quartermaster: Cannot serve on .*token/m);
    assert.doesNotMatch(log(), /\n +at /);
  }));

Deno.test("deno serve takes the host of an HTTP/2 request from :authority", () =>
  denoServe({}, async ({ url }) => {
    await until(() => fetch(url).then((response) => response.text(), () => undefined));
    assert.equal(await http2Status(url), 200);
    assert.equal(await http2Status(url, "rebound.example"), 403);
  }));

Deno.test("deno serve answers a path that cannot be decoded with a page, as start does", () =>
  denoServe({}, async ({ url }) => {
    await until(() => fetch(url).then((response) => response.text(), () => undefined));
    const response = await fetch(`${url}/servers/%E0%A4%A`);
    assert.equal(response.status, 404);
    assert.match(await response.text(), /<h1/);
    assert.ok(response.headers.has("content-security-policy"));
  }));

/** The status of an HTTP/2 request without TLS, which fetch() cannot make. */
async function http2Status(url: string, authority = new URL(url).host): Promise<number> {
  const session = connect(url);
  try {
    const request = session.request({ ":path": "/healthz", ":authority": authority });
    request.resume();
    const [headers] = await once(request, "response");
    return headers[":status"];
  } finally {
    session.destroy();
  }
}

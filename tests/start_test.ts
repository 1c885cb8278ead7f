import assert from "node:assert/strict";
import { join } from "@std/path";
import { startCommand, startGateway, until } from "./gateway.ts";

async function runMain(args: string[], env: Record<string, string> = {}) {
  const cwd = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...startCommand(), ...args],
    cwd,
    env: { XDG_CONFIG_HOME: cwd, XDG_DATA_HOME: cwd, QUARTERMASTER_LOG_FORMAT: "json", ...env },
  }).output();
  await Deno.remove(cwd, { recursive: true });
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("start answers health, readiness and metrics, and shows the demo server", async () => {
  await using gateway = await startGateway();
  const health = await fetch(`${gateway.url}/healthz`);
  assert.equal(health.status, 200);
  assert.deepEqual(await health.json(), { status: "ok" });
  const body = await until(async () => {
    const ready = await fetch(`${gateway.url}/readyz`);
    assert.equal(ready.status, 200);
    const body = await ready.json();
    return body.servers.ready === 1 ? body : undefined;
  });
  assert.deepEqual(body.servers, { total: 1, ready: 1, starting: 0 });
  assert.deepEqual(body.store, { state: "ok" });
  assert.ok(!JSON.stringify(body).includes(gateway.dataDir), "a path is in /readyz");
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /quartermaster_servers\{state="ready"\} 1/);
  assert.match(metrics, /quartermaster_http_requests_total\{method="GET",status="200"\} \d/);
  const page = await (await fetch(gateway.url)).text();
  assert.match(page, /weather/);
});

Deno.test("start refuses foreign hosts and origins on every route", async () => {
  await using gateway = await startGateway();
  const { host } = new URL(gateway.url);
  const routes = [
    "/servers/weather/mcp",
    "/gateway/mcp",
    "/",
    "/servers",
    "/tools",
    "/settings",
    "/healthz",
    "/readyz",
    "/metrics",
    "/api/events",
    "/nothing",
    "/favicon.svg",
  ];
  const foreign: Record<string, string>[] = [
    { host: "evil.example" },
    { host: `evil.example:${new URL(gateway.url).port}` },
    { host, origin: "http://evil.example" },
    { host, origin: "null" },
  ];
  for (const route of routes) {
    for (const headers of foreign) {
      assert.match(
        await rawRequest(gateway.url, "GET", route, headers),
        /^HTTP\/1\.1 403 /,
        `${route} ${JSON.stringify(headers)}`,
      );
    }
    const own = await rawRequest(gateway.url, "GET", route, { host, origin: gateway.url });
    assert.doesNotMatch(own, /^HTTP\/1\.1 403 /, route);
  }
  const refused = await rawRequest(gateway.url, "GET", "/", { host: "evil.example" });
  assert.match(refused, /FOREIGN_HOST/);
  assert.match(refused, /--public-url/);
});

Deno.test("start refuses a body over the limit with 413", async () => {
  await using gateway = await startGateway(["--max-body", "1KiB"]);
  const large = await fetch(`${gateway.url}/servers`, { method: "POST", body: "x".repeat(2_000) });
  assert.equal(large.status, 413);
  assert.equal((await large.json()).error.errorType, "PAYLOAD_TOO_LARGE");
});

Deno.test("start allows the public URL's host and origin", async () => {
  await using gateway = await startGateway(["--public-url", "https://gateway.example"], {
    env: { QUARTERMASTER_ADMIN_TOKEN: "a-token-for-the-test-alone" },
  });
  const answer = await rawRequest(gateway.url, "GET", "/healthz", {
    host: "gateway.example",
    origin: "https://gateway.example",
  });
  assert.match(answer, /^HTTP\/1\.1 200 /);
});

Deno.test("start gives one sentence and exit code 2 for what the user can correct", async () => {
  await using gateway = await startGateway();
  const port = new URL(gateway.url).port;
  using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  await Deno.writeTextFile(
    join(folder, "broken.json"),
    `{\n  "mcpServers": {\n    "a": { "command": }\n`,
  );
  await Deno.writeTextFile(
    join(folder, "not.kv"),
    "this is no database, but it is long enough to look at",
  );
  // Damage inside the file, which is found only by looking before Deno KV does.
  const spoiled = join(folder, "spoiled.kv");
  {
    using kv = await Deno.openKv(spoiled);
    for (let n = 0; n < 50; n++) await kv.set(["entry", n], "x".repeat(2_000));
  }
  const bytes = await Deno.readFile(spoiled);
  await Deno.writeFile(spoiled, bytes.fill(7, 4096));
  const cases: [string[], RegExp][] = [
    [["--port", "0", "--kv", spoiled], /^quartermaster: .*spoiled\.kv" is damaged/],
    [
      ["--port", port],
      /^quartermaster: Cannot listen on 127\.0\.0\.1:\d+: Quartermaster is already running at http/,
    ],
    [["--port", `${other.addr.port}`], /^quartermaster: Cannot listen on .*: the port is in use/],
    [["--prot", "1"], /^quartermaster: Unknown option --prot. Did you mean --port\?/],
    [["--port", "abc"], /^quartermaster: Cannot use --port "abc"/],
    [["--config", join(folder, "absent.json")], /^quartermaster: .*absent\.json/],
    [
      ["--port", "0", "--config", join(folder, "broken.json")],
      /^quartermaster: .*broken\.json:3:\d+/,
    ],
    [["--port", "0", "--kv", join(folder, "not.kv")], /^quartermaster: .*not\.kv/],
    [["--port", "0", "--kv", folder], /^quartermaster: /],
    [["frobnicate"], /^quartermaster: Cannot start with the argument "frobnicate"/],
  ];
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await runMain(args);
    const said = stderr.split("\n").filter((line) => !line.startsWith("{"));
    assert.equal(code, 2, `${args}: ${stderr}`);
    assert.match(said[0]!, expected, `${args}`);
    assert.doesNotMatch(said.join("\n"), /\n\s+at /, `${args}: a stack trace`);
    assert.equal(stdout, "");
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("start --help names every option, --version the version", async () => {
  const help = await runMain(["--help"]);
  assert.equal(help.code, 0);
  for (
    const flag of [
      "port",
      "host",
      "config",
      "data-dir",
      "kv",
      "log-level",
      "stdio",
      "enable-optimization",
      "public-url",
      "max-body",
    ]
  ) {
    assert.match(help.stdout, new RegExp(`--${flag}\\b`));
  }
  assert.equal(help.stderr, "");
  const version = await runMain(["--version"]);
  assert.match(version.stdout, /^quartermaster \d+\.\d+\.\d+\n$/);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`start stops on ${signal} with open streams, and leaves nothing behind`, async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "quartermaster_" });
    const gateway = await startGateway([], { dataDir });
    const stream = await fetch(`${gateway.url}/api/events`);
    const reader = stream.body!.getReader();
    await reader.read();
    const status = await gateway.stop(signal);
    assert.equal(status.code, 0, gateway.log());
    while (!(await reader.read()).done);
    assert.match(gateway.log(), /"msg":"Stopped"/);
    // Nothing holds the store: the next one starts on it at once.
    const next = await startGateway([], { dataDir });
    await next.stop();
    await Deno.remove(dataDir, { recursive: true });
  });
}

Deno.test("start is quiet: nothing but log lines on stderr", async () => {
  await using gateway = await startGateway();
  await fetch(`${gateway.url}/healthz`).then((response) => response.body?.cancel());
  for (const line of gateway.log().trim().split("\n")) JSON.parse(line);
});

Deno.test("start writes one log file a run, with the request's id, duration and status", async () => {
  await using gateway = await startGateway();
  const response = await fetch(`${gateway.url}/servers`, {
    headers: { "x-correlation-id": "chain-7" },
  });
  await response.body?.cancel();
  await gateway.stop();
  const folder = join(gateway.dataDir, "logs");
  const names = Array.from(Deno.readDirSync(folder), (entry) => entry.name);
  assert.equal(names.length, 1);
  assert.match(names[0]!, /^quartermaster_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.log$/);
  const lines = (await Deno.readTextFile(join(folder, names[0]!))).trim().split("\n").map((line) =>
    JSON.parse(line)
  );
  const request = lines.find((line) => line.path === "/servers");
  assert.equal(request.requestId, response.headers.get("x-request-id"));
  assert.equal(request.correlationId, "chain-7");
  assert.equal(request.status, 200);
  assert.equal(typeof request.duration, "number");
});

Deno.test("start keeps the secrets of a config file out of log, pages, metrics and readiness", async () => {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  const canary = () => `canary-${crypto.randomUUID()}`;
  const [header, env, variable, query] = [canary(), canary(), canary(), canary()];
  await Deno.writeTextFile(
    join(folder, ".mcp.json"),
    JSON.stringify({
      mcpServers: {
        remote: {
          type: "http",
          url: `http://127.0.0.1:59999/mcp?api_key=${query}`,
          headers: { "X-Any": header },
        },
        local: { command: "no-such-program", env: { ANY: env }, args: ["--token", "${CANARY}"] },
      },
    }),
  );
  await using gateway = await startGateway(["--log-level", "trace"], {
    cwd: folder,
    env: { CANARY: variable },
  });
  const texts = [];
  for (
    const path of [
      "/",
      "/servers",
      "/servers/remote",
      "/servers/local",
      "/settings",
      "/metrics",
      "/readyz",
    ]
  ) {
    texts.push(await (await fetch(`${gateway.url}${path}`)).text());
  }
  assert.match(texts[1]!, /remote/);
  await gateway.stop();
  texts.push(gateway.log());
  for (const secret of [header, env, variable, query]) {
    for (const text of texts) assert.ok(!text.includes(secret!), `${secret} in ${text}`);
  }
  await Deno.remove(folder, { recursive: true });
});

/** A request with headers that fetch would not let us set; the whole answer as text. */
async function rawRequest(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<string> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await connection.write(
    new TextEncoder().encode(`${method} ${path} HTTP/1.1\r\n${lines}connection: close\r\n\r\n`),
  );
  const buffer = new Uint8Array(16_384);
  const size = await connection.read(buffer);
  let text = new TextDecoder().decode(buffer.subarray(0, size ?? 0));
  if (text.startsWith("HTTP/1.1 403")) {
    for (
      let more = await connection.read(buffer);
      more !== null;
      more = await connection.read(buffer)
    ) {
      text += new TextDecoder().decode(buffer.subarray(0, more));
    }
  }
  return text;
}

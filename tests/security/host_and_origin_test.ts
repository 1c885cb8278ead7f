import assert from "node:assert/strict";
import { at, tool } from "../combined_doors.ts";
import { ScriptedServer } from "../fixtures/scripted_server.ts";
import { Guarded } from "./guarded.ts";

/** Every kind of route there is. */
const ROUTES = [
  "POST /mcp",
  "GET /mcp?expose=all",
  "DELETE /servers/box/mcp",
  "POST /servers/box/mcp",
  "POST /toolsets/none/mcp",
  "POST /gateway/mcp",
  "GET /api/status",
  "GET /api/tokens",
  "POST /api/tokens",
  "GET /api/events",
  "GET /",
  "GET /servers",
  "GET /security/tokens",
  "POST /security/tokens",
  "GET /login",
  "POST /login",
  "POST /logout",
  "GET /metrics",
  "GET /healthz",
  "GET /readyz",
  "GET /css/base.css",
  "GET /nothing-here",
  "OPTIONS /mcp",
];
const AT_ONCE = 16;

function hostsOf(port: number): [value: string | undefined, isOwn: boolean][] {
  return [
    [`127.0.0.1:${port}`, true],
    [`localhost:${port}`, true],
    [`[::1]:${port}`, true],
    [undefined, false],
    ["127.0.0.1", false],
    [`127.0.0.1:${port + 1}`, false],
    [`evil.example:${port}`, false],
    [`localhost.evil.example:${port}`, false],
    [`localhost:${port}.evil.example`, false],
    [`192.168.0.1:${port}`, false],
    [`0.0.0.0:${port}`, false],
    [`evil.example@localhost:${port}`, false],
  ];
}

function originsOf(port: number): [value: string | undefined, isOwn: boolean][] {
  return [
    [undefined, true],
    [`http://127.0.0.1:${port}`, true],
    [`http://localhost:${port}`, true],
    ["null", false],
    ["https://evil.example", false],
    [`http://evil.example:${port}`, false],
    [`https://localhost:${port}`, false],
    [`http://localhost:${port + 1}`, false],
    ["http://localhost", false],
    [`http://localhost.evil.example:${port}`, false],
    ["file://", false],
    ["chrome-extension://abcdefghijklmnop", false],
  ];
}

/** The status alone, over a connection of its own: fetch would write a Host itself. */
async function statusOf(port: number, lines: string[]): Promise<number> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`));
  const buffer = new Uint8Array(64);
  let text = "";
  while (text.length < 12) {
    const read = await connection.read(buffer);
    if (read === null) break;
    text += new TextDecoder().decode(buffer.subarray(0, read));
  }
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
}

Deno.test("12 hosts and 12 origins: every route answers its own alone", async () => {
  await using server = new ScriptedServer([tool("echo")]);
  await using guarded = await Guarded.open({ box: at(server) }, []);
  const port = Number(new URL(guarded.url).port);
  const tries = ROUTES.flatMap((route) =>
    hostsOf(port).flatMap(([host, isOwnHost]) =>
      originsOf(port).map(([origin, isOwnOrigin]) => ({
        name: `${route} host ${host} origin ${origin}`,
        lines: [
          `${route} HTTP/1.1`,
          "Connection: close",
          ...(host === undefined ? [] : [`Host: ${host}`]),
          ...(origin === undefined ? [] : [`Origin: ${origin}`]),
          ...(route.startsWith("GET") ? [] : ["Content-Length: 0"]),
        ],
        isOwn: isOwnHost && isOwnOrigin,
      }))
    )
  );
  assert.equal(tries.length, ROUTES.length * 144);
  const wrong: string[] = [];
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let index = next++; index < tries.length; index = next++) {
      const { name, lines, isOwn } = tries[index]!;
      const status = await statusOf(port, lines);
      if (isOwn ? status === 403 || status === 0 : status !== 403) wrong.push(`${name}: ${status}`);
    }
  }));
  assert.deepEqual(wrong, []);
});

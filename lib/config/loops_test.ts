import assert from "node:assert/strict";
import { join } from "node:path";
import { ServerSpec } from "../core/server.ts";
import { type GatewayIdentity, pointsAtGateway } from "./loops.ts";

const SELF: GatewayIdentity = {
  port: 3333,
  host: "127.0.0.1",
  mainModule: "file:///opt/qm/main.ts",
};

async function remote(url: string, self: Partial<GatewayIdentity> = {}) {
  return await pointsAtGateway(ServerSpec.parse({ type: "http", url }), { ...SELF, ...self }, "/");
}

async function program(line: string[], cwd?: string) {
  const [command, ...args] = line;
  const spec = ServerSpec.parse({ type: "stdio", command, args, ...(cwd ? { cwd } : {}) });
  return await pointsAtGateway(spec, SELF, "/home/ada");
}

for (
  const url of [
    "http://127.0.0.1:3333/mcp",
    "http://127.0.0.1:3333",
    "HTTP://LOCALHOST:3333/mcp",
    "http://localhost.:3333/mcp",
    "http://qm.localhost:3333/mcp",
    "http://127.9.9.9:3333/mcp",
    "http://127.1:3333/mcp",
    "http://0x7f000001:3333/mcp",
    "http://2130706433:3333/mcp",
    "http://0177.0.0.1:3333/mcp",
    "http://[::1]:3333/mcp",
    "http://[0:0:0:0:0:0:0:1]:3333/mcp",
    "http://[::ffff:127.0.0.1]:3333/mcp",
    "http://0.0.0.0:3333/mcp",
    "http://0:3333/mcp",
    "http://[::]:3333/mcp",
    "http://user:pass@localhost:3333/servers/x/mcp?expose=all#x",
    "http://\uff4c\uff4fcalhost:3333/mcp",
  ]
) {
  Deno.test(`pointsAtSelf() recognizes ${url}`, async () => {
    assert.equal(await remote(url), true);
  });
}

for (
  const url of [
    "http://127.0.0.1:3334/mcp",
    "http://localhost/mcp",
    "http://localhost.example.com:3333/mcp",
    "http://notlocalhost:3333/mcp",
    "http://192.168.1.5:3333/mcp",
    "http://128.0.0.1:3333/mcp",
    "https://example.com/mcp",
  ]
) {
  Deno.test(`pointsAtSelf() lets ${url} through`, async () => {
    assert.equal(await remote(url), false);
  });
}

const HOSTS: [what: string, url: string, self: Partial<GatewayIdentity>, expected: boolean][] = [
  ["the default port of http", "http://localhost/mcp", { port: 80 }, true],
  ["the default port of https", "https://localhost/mcp", { port: 443 }, true],
  ["no port yet", "http://localhost/mcp", { port: 0 }, false],
  ["the host it listens on", "http://192.168.1.5:3333", { host: "192.168.1.5" }, true],
  ["the name it listens on", "http://QM.lan.:3333", { host: "qm.lan" }, true],
  ["IPv6", "http://[fe80::1]:3333", { host: "fe80::1" }, true],
  ["loopback while it listens elsewhere", "http://localhost:3333", { host: "10.0.0.1" }, false],
  ["loopback while it listens everywhere", "http://localhost:3333", { host: "0.0.0.0" }, true],
  ["its address while it listens everywhere", "http://10.0.0.1:3333", {
    host: "::",
    addresses: ["10.0.0.1"],
  }, true],
  ["another address while it listens everywhere", "http://10.0.0.2:3333", {
    host: "::",
    addresses: ["10.0.0.1"],
  }, false],
  ["the public URL", "https://QM.example.com:443/mcp", {
    publicUrl: "https://qm.example.com",
  }, true],
  ["the public URL without TLS", "http://qm.example.com/mcp", {
    publicUrl: "https://qm.example.com",
  }, true],
  ["the public host's other port", "https://qm.example.com:8443/mcp", {
    publicUrl: "https://qm.example.com",
  }, false],
];

for (const [what, url, self, expected] of HOSTS) {
  Deno.test(`pointsAtSelf() ${expected ? "recognizes" : "lets through"} ${what}`, async () => {
    assert.equal(await remote(url, self), expected);
  });
}

const PROGRAMS: [line: string[], cwd: string | undefined, expected: boolean][] = [
  [["deno", "run", "-A", "/opt/qm/main.ts", "--stdio"], undefined, true],
  [["deno", "run", "-A", "file:///opt/qm/main.ts"], undefined, true],
  [["deno", "run", "-A", "../../opt/qm/main.ts"], undefined, true],
  [["deno", "run", "-A", "main.ts"], "/opt/qm", true],
  [["deno", "run", "-A", "main.ts"], "/opt/other", false],
  [["deno", "run", "-A", "/opt/qm/tests/fixtures/server.ts"], undefined, false],
  [["/opt/qm/main.ts"], undefined, true],
  [["deno", "run", "-P=start", "/opt/qm/cli.ts", "--stdio"], undefined, true],
  [["deno", "run", "-A", "/opt/other/cli.ts"], undefined, false],
  [["deno", "task", "serve", "--stdio"], "/opt/qm", true],
  [["deno", "task", "start", "--stdio"], "/opt/qm", true],
  [["deno", "task", "dev"], "/opt/qm/lib", true],
  [["deno", "task", "cli", "--stdio"], "/opt/qm", true],
  [["deno", "task", "start"], "/opt/other", false],
  [["deno", "task", "start"], undefined, false],
  [["deno", "task", "fixture"], "/opt/qm", false],
  [["deno", "task", "--cwd", "/opt/qm", "start"], undefined, true],
  [["deno", "task", "--cwd=/opt/qm", "start"], undefined, true],
  [["deno", "task", "--config", "/opt/qm/deno.json", "start"], undefined, true],
  [["npx", "-y", "deno", "task", "start"], "/opt/qm", true],
  [["sh", "-c", "cd /opt/qm && deno task start --stdio"], undefined, true],
  [["bash", "-c", "cd /srv; exec quartermaster --stdio"], undefined, true],
  [["quartermaster"], undefined, true],
  [["/usr/local/bin/quartermaster", "--stdio"], undefined, true],
  [["Quartermaster.exe"], undefined, true],
  [["/usr/bin/node", "/usr/lib/node_modules/quartermaster/bin/quartermaster.mjs"], undefined, true],
  [["node", "/opt/tools/build.mjs", "quartermaster"], undefined, false],
  [["npx", "-y", "quartermaster@latest"], undefined, true],
  [["deno", "run", "-A", "npm:quartermaster@1"], undefined, true],
  [["npx", "-y", "@modelcontextprotocol/server-filesystem", "./quartermaster"], undefined, false],
  [["npx", "-y", "quartermaster-tools"], undefined, false],
  [["node", "main.ts"], "/opt/other", false],
];

for (const [line, cwd, expected] of PROGRAMS) {
  const what = `${line.join(" ")} in ${cwd ?? "its own folder"}`;
  Deno.test(`pointsAtSelf() ${expected ? "recognizes" : "lets through"} ${what}`, async () => {
    assert.equal(await program(line, cwd), expected);
  });
}

Deno.test("pointsAtSelf() sees through symbolic links", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const main = join(folder, "main.ts");
    await Deno.writeTextFile(main, "");
    await Deno.symlink(folder, join(folder, "link"));
    const args = ["run", join(folder, "link", "main.ts")];
    const spec = ServerSpec.parse({ type: "stdio", command: "deno", args });
    assert.equal(await pointsAtGateway(spec, { ...SELF, mainModule: main }, "/"), true);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

import assert from "node:assert/strict";
import config from "../deno.json" with { type: "json" };
import { ROOT } from "./terminal.ts";

/** Runs `deno task audit` with a registry that answers like this. */
async function audit(advisories: unknown, status = 200) {
  await using registry = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json(advisories, { status }),
  );
  // Not as a task: that would fetch all packages from this registry first.
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: config.tasks.audit.command.split(" ").slice(1),
    cwd: ROOT,
    env: { NPM_CONFIG_REGISTRY: `http://127.0.0.1:${registry.addr.port}` },
  }).output();
  return { code, text: [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("") };
}

Deno.test("deno task audit lists the vulnerabilities that the registry knows, and fails", async () => {
  const advisory = {
    url: "https://advisories.example/1",
    title: "A made-up hole",
    severity: "high",
    vulnerable_versions: "<99.0.0",
  };
  const { code, text } = await audit({ zod: [advisory] });
  assert.equal(code, 1, text);
  assert.match(text, /A made-up hole/);
  assert.match(text, /high: zod <99\.0\.0/);
});

Deno.test("deno task audit passes without advisories, and says so if the registry refuses", async () => {
  const clean = await audit({});
  assert.equal(clean.code, 0, clean.text);
  assert.match(clean.text, /packages, 0 vulnerabilities/);
  const refused = await audit({}, 405);
  assert.equal(refused.code, 2);
  assert.match(refused.text, /405/);
});

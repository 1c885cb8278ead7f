/**
 * `deno task audit` lists the published vulnerabilities of the locked packages. `deno audit` does too,
 * but reports "No known vulnerabilities found" when the registry refuses to say.
 */
import { TEST_LOCK } from "./packages.ts";

interface Advisory {
  title: string;
  severity: string;
  url: string;
  vulnerable_versions: string;
}

const lock: { npm: Record<string, unknown> } = JSON.parse(await Deno.readTextFile(TEST_LOCK));
const versions: Record<string, string[]> = {};
for (const key of Object.keys(lock.npm)) {
  const [, name, version] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
  if (name !== undefined && version !== undefined) (versions[name] ??= []).push(version);
}

const registry = Deno.env.get("NPM_CONFIG_REGISTRY") ?? await configuredRegistry();
const url = new URL("-/npm/v1/security/advisories/bulk", registry.replace(/\/*$/, "/"));
const failed = (reason: string): never => {
  // deno-lint-ignore no-console
  console.error(`The registry does not list vulnerabilities: ${reason}`);
  return Deno.exit(2);
};
const response = await fetch(url, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(versions),
}).catch((error: Error) => failed(error.message));
if (!response.ok) failed(`it answered ${response.status}`);
const found: Record<string, Advisory[]> = await response.json();
for (const [name, advisories] of Object.entries(found)) {
  for (const { title, severity, url, vulnerable_versions } of advisories) {
    // deno-lint-ignore no-console
    console.log(`${severity}: ${name} ${vulnerable_versions}: ${title} (${url})`);
  }
}
const count = Object.values(found).flat().length;
// deno-lint-ignore no-console
console.log(`${Object.keys(versions).length} packages, ${count} vulnerabilities`);
Deno.exit(count === 0 ? 0 : 1);

async function configuredRegistry(): Promise<string> {
  const { stdout } = await new Deno.Command("npm", { args: ["config", "get", "registry"] })
    .output();
  return new TextDecoder().decode(stdout).trim();
}

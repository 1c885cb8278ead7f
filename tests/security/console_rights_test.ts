import assert from "node:assert/strict";
import { fromFileUrl, join, relative } from "@std/path";
import { type Right, RIGHTS } from "../../lib/core/access.ts";
import { ConsoleGate } from "../../lib/http/console_gate.ts";
import { bearer, Guarded } from "./guarded.ts";

/** The rights that every route requires; a route that is new or requires others belongs here too. */
const READ = { GET: ["read"] };
const GUARDED_READ = { GET: ["read", "manage"] };
const COMPARES = { ...GUARDED_READ, POST: ["manage", "optimize", "call"] };
const MANAGE = { POST: ["manage"] };
const DECIDE = { POST: ["manage", "optimize"] };
const OWN = { POST: ["read"] };
const ROUTES: Record<string, "anyone" | Record<string, readonly string[]>> = {
  "/": READ,
  "/[...path]": "anyone",
  "/actions": OWN,
  "/activity": GUARDED_READ,
  "/activity/[id]": GUARDED_READ,
  "/activity/~clear": MANAGE,
  "/clients": GUARDED_READ,
  "/clients/[id]": GUARDED_READ,
  "/clients/[id]/~disconnect": MANAGE,
  "/activity/~mark": { POST: ["optimize"] },
  "/api/[...path]": "anyone",
  "/api/openapi.json": "anyone",
  "/api/picks": READ,
  "/api/tools/[server]/[tool]/call": { POST: ["manage", "call"] },
  "/login": "anyone",
  "/logout": "anyone",
  "/oauth/callback": "anyone",
  "/oauth/client.json": "anyone",
  "/optimization": READ,
  "/optimization/[server]": { ...READ, ...DECIDE },
  "/optimization/[server]/[tool]": { ...READ, ...DECIDE },
  "/optimization/~comparisons": COMPARES,
  "/optimization/~comparisons/[id]": COMPARES,
  "/optimization/~jobs/[id]": READ,
  "/optimization/~jobs/[id]/[action]": DECIDE,
  "/optimization/~proposals": { GET: ["read", "manage"], POST: ["manage", "optimize"] },
  "/optimization/~switch": DECIDE,
  "/palette": READ,
  "/security": READ,
  "/security/approvals": { ...GUARDED_READ, ...MANAGE },
  "/security/audit": GUARDED_READ,
  "/security/consents": { ...GUARDED_READ, ...MANAGE },
  "/security/projects": { ...GUARDED_READ, ...MANAGE },
  "/security/review": { ...GUARDED_READ, ...MANAGE },
  "/security/secrets": { ...GUARDED_READ, ...MANAGE },
  "/security/tokens": { ...GUARDED_READ, ...MANAGE },
  "/servers": READ,
  "/servers/[name]": READ,
  "/servers/[name]/~edit": { ...READ, ...MANAGE },
  "/servers/[name]/~login": { ...READ, ...MANAGE },
  "/servers/[name]/~logout": MANAGE,
  "/servers/[name]/~pause": MANAGE,
  "/servers/[name]/~remove": MANAGE,
  "/servers/[name]/~restart": MANAGE,
  "/servers/[name]/~resume": MANAGE,
  "/servers/[name]/~tools": { ...READ, ...MANAGE },
  "/servers/~demo": MANAGE,
  "/servers/~new": { ...READ, ...MANAGE },
  "/servers/~undo": MANAGE,
  "/settings": { ...READ, ...MANAGE },
  "/settings/backup": MANAGE,
  "/settings/restore": { ...READ, ...MANAGE },
  "/tools": READ,
  "/tools/[server]/[tool]": { ...READ, ...MANAGE },
  "/toolsets": READ,
  "/toolsets/[name]": READ,
  "/toolsets/[name]/delete": MANAGE,
  "/toolsets/[name]/edit": { ...READ, ...MANAGE },
  "/toolsets/[name]/equip": OWN,
  "/toolsets/[name]/export": READ,
  "/toolsets/~export": READ,
  "/toolsets/~import": { ...READ, ...MANAGE },
  "/toolsets/~new": { ...READ, ...MANAGE },
  "/toolsets/~unequip": OWN,
};

const root = fromFileUrl(new URL("../../routes", import.meta.url));

/** Every route file by its path, as Fresh reads the folder. */
function routeFiles(folder = root): [path: string, file: string][] {
  return Array.from(Deno.readDirSync(folder)).flatMap(({ name, isDirectory }) => {
    const file = join(folder, name);
    if (name.startsWith("(_")) return [];
    if (isDirectory) return routeFiles(file);
    if (name.startsWith("_")) return [];
    const path = `/${relative(root, file)}`.replace("/(console)", "")
      .replace(/(\/index)?\.tsx?$/, "");
    return [[path === "" ? "/" : path, file] as [string, string]];
  });
}

type Declared = { rights?: "anyone" | readonly string[] };

Deno.test("every route declares the rights that it requires", async () => {
  const files = routeFiles();
  assert.ok(files.length > 50, `only ${files.length} routes were found`);
  const found: [string, unknown][] = [];
  for (const [path, file] of files) {
    const { handler } = await import(`file://${file}`) as {
      handler: Declared | Record<string, Declared>;
    };
    assert.ok(handler, `${path} has no handler`);
    if (typeof handler === "function") {
      found.push([path, (handler as Declared).rights]);
      continue;
    }
    const methods = Object.entries(handler as Record<string, Declared>)
      .map(([method, { rights }]) => [method, rights] as const);
    const isOpen = methods.every(([, rights]) => rights === "anyone");
    found.push([path, isOpen ? "anyone" : Object.fromEntries(methods)]);
  }
  assert.deepEqual(Object.fromEntries(found), ROUTES);
});

Deno.test("no route that requires rights is at a path without a caller", async () => {
  const access = {
    identify: () => Promise.resolve("token:a"),
    isValid: () => true,
  } as unknown as ConstructorParameters<typeof ConsoleGate>[0]["access"];
  const gate = new ConsoleGate({ access, logins: { find: () => undefined } as never });
  for (const [path, needs] of Object.entries(ROUTES)) {
    const principal = await gate.identify(new Request(`http://localhost:3333${path}`));
    if (needs !== "anyone") assert.equal(principal, "token:a", path);
  }
});

Deno.test("a token without one of a route's rights, or limited to some servers, is refused", async () => {
  await using guarded = await Guarded.open({});
  const tokenWithout = new Map<Right, string>();
  for (const right of RIGHTS) {
    const rights = RIGHTS.filter((one) => one !== right);
    tokenWithout.set(right, (await guarded.token({ rights })).text);
  }
  const { text: narrow } = await guarded.token({ rights: [...RIGHTS], servers: ["git"] });
  const ask = async (path: string, method: string, token: string) => {
    const isApi = path.startsWith("/api/");
    const type = isApi ? "application/json" : "application/x-www-form-urlencoded";
    const response = await fetch(new URL(path.replaceAll(/[[\]]/g, ""), guarded.url), {
      method,
      redirect: "manual",
      headers: { ...bearer(token), ...(method === "POST" ? { "content-type": type } : {}) },
      ...(method === "POST" ? { body: isApi ? "{}" : "" } : {}),
    });
    const text = await response.text();
    return { status: response.status, text };
  };
  let asked = 0;
  for (const [path, needs] of Object.entries(ROUTES)) {
    if (needs === "anyone") continue;
    for (const [method, rights] of Object.entries(needs)) {
      for (const right of rights as Right[]) {
        const { status, text } = await ask(path, method, tokenWithout.get(right)!);
        assert.equal(status, 403, `${method} ${path} without ${right}`);
        assert.match(text, new RegExp(`may not ${right} here`));
      }
      assert.equal((await ask(path, method, narrow)).status, 403, `${method} ${path}, narrow`);
      const other = RIGHTS.find((right) => !rights.includes(right))!;
      // A form without fields changes nothing, and is refused for another reason or redirected.
      const allowed = await ask(path, method, tokenWithout.get(other)!);
      assert.doesNotMatch(allowed.text, /may not \w+ here/, `${method} ${path} without ${other}`);
      asked++;
    }
  }
  assert.ok(asked > 60, `${asked} handlers were asked`);
  const page = async (path: string, headers: Record<string, string>, method = "GET") => {
    const options = { method, headers: { accept: "text/html", ...headers } };
    const response = await fetch(new URL(path, guarded.url), options);
    return { status: response.status, text: await response.text() };
  };
  const whole = await page("/nothing/here", bearer(tokenWithout.get("optimize")!));
  assert.match(whole.text, /class="rail/, "a person who may read sees the console's frame");
  // Open paths name no caller; what is not found there must not be shown inside the console.
  for (const path of ["/nothing.txt", "/.well-known/nothing", "/_fresh/nothing", "/nothing/here"]) {
    for (const headers of [{}, bearer(narrow), { "x-forwarded-for": "192.0.2.1" }]) {
      for (const query of ["", "?fresh-partial=true"]) {
        const { text } = await page(path + query, headers);
        assert.doesNotMatch(text, /class="rail/, `${path}${query} ${JSON.stringify(headers)}`);
      }
    }
  }
  for (const method of ["PUT", "POST"]) {
    const { text } = await page("/oauth/callback", {}, method);
    assert.doesNotMatch(text, /class="rail/, `${method} /oauth/callback`);
  }
});

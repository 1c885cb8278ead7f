import assert from "node:assert/strict";
import type { Context } from "fresh";
import { GatewayError } from "../core/errors.ts";
import { admitToConsole, isConsolePath } from "./admit.ts";
import type { State } from "./define.ts";

/** What comes of a request by somebody who may only read, or not even that. */
async function ask(path: string, init: RequestInit = {}, isReader = true) {
  const req = new Request(`http://localhost:3333${path}`, init);
  const state = {
    gateway: {
      consoleGate: {
        admit: ({ url, method }: Request) =>
          isReader && method === "GET" && new URL(url).pathname === "/"
            ? Promise.resolve("token:reader")
            : Promise.reject(new GatewayError("ACCESS_DENIED")),
      },
    },
  } as unknown as State;
  const next = () => Promise.resolve(new Response(state.refused?.code));
  const ctx = { req, url: new URL(req.url), state, next } as unknown as Context<State>;
  return await admitToConsole(ctx).then(
    (answer) => answer.text(),
    (error) => `thrown ${error.code}`,
  );
}

const page = { accept: "text/html,*/*" };

Deno.test("admitToConsole() has a refusal shown as a page to a person who may look", async () => {
  const post = { method: "POST", headers: page };
  assert.equal(await ask("/servers", post), "ACCESS_DENIED");
  assert.equal(await ask("/actions", post), "ACCESS_DENIED");
  assert.equal(await ask("/security/tokens", { headers: page }), "ACCESS_DENIED");
});

Deno.test("admitToConsole() gives programs, and those who may not look, the error alone", async () => {
  const thrown = "thrown ACCESS_DENIED";
  assert.equal(await ask("/servers", { method: "POST" }), thrown);
  assert.equal(await ask("/api/tokens", { headers: page }), thrown);
  assert.equal(await ask("/elsewhere", { headers: page }), thrown);
  const bearer = { ...page, authorization: "Bearer x" };
  assert.equal(await ask("/servers", { method: "POST", headers: bearer }), thrown);
  assert.equal(await ask("/servers", { method: "POST", headers: page }, false), thrown);
});

Deno.test("admitToConsole() shows the way in to whoever sends a form after the login has ended", async () => {
  const gateway = {
    consoleGate: { admit: () => Promise.reject(new GatewayError("TOKEN_REQUIRED")) },
  };
  const req = new Request("http://localhost:3333/servers/git/~restart", {
    method: "POST",
    headers: { ...page, referer: "http://localhost:3333/servers/git?tab=log" },
  });
  const ctx = { req, url: new URL(req.url), state: { gateway } } as unknown as Context<State>;
  const answer = await admitToConsole(ctx);
  assert.equal(answer.headers.get("location"), "/login?then=%2Fservers%2Fgit%3Ftab%3Dlog");
});

/** The paths of all routes outside the console's folder. */
async function routesIn(folder: URL, path = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name === "(console)" || name.startsWith("_")) continue;
    if (isDirectory) found.push(...await routesIn(new URL(`${name}/`, folder), `${path}/${name}`));
    else found.push(`${path}/${name}`.replace(/(\/index)?\.tsx?$/, ""));
  }
  return found;
}

Deno.test("isConsolePath() holds of no route that would not look whether it is refused", async () => {
  const routes = await routesIn(new URL("../../routes/", import.meta.url));
  assert.ok(routes.includes("/login") && routes.includes("/api/[...path]"), routes.join());
  assert.deepEqual(routes.filter(isConsolePath), []);
});

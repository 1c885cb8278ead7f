import assert from "node:assert/strict";
import type { Context } from "fresh";
import { GatewayError } from "../core/errors.ts";
import { admitToConsole } from "./admit.ts";
import { define, type State } from "./define.ts";

/** What comes of a refused request, by somebody who may only look at the console, or not even that. */
async function ask(path: string, init: RequestInit = {}, mayLook = true) {
  const req = new Request(`http://localhost:3333${path}`, init);
  const state = {
    host: {
      consoleGate: {
        identify: () => Promise.resolve("token:reader"),
        demand: () => {
          throw new GatewayError("ACCESS_DENIED");
        },
        mayLook: () => mayLook,
      },
      options: { options: { maxBody: 1000 } },
    },
  } as unknown as State;
  const route = define.handlers({ GET: ["read"], POST: ["manage"] }, {
    GET: (_ctx: Context<State>) => new Response("ran"),
    POST: (_ctx: Context<State>) => new Response("ran"),
  });
  const ctx = { req, url: new URL(req.url), state } as unknown as Context<State>;
  // The console's error page is between the route and what admits to it.
  const next = async () => {
    try {
      return await route[req.method as "GET" | "POST"](ctx) as Response;
    } catch (error) {
      return new Response((error as GatewayError).code);
    }
  };
  return await admitToConsole(Object.assign(ctx, { next })).then(
    (answer) => answer.text(),
    (error) => `thrown ${error.code}`,
  );
}

const page = { accept: "text/html,*/*" };

Deno.test("refuseCaller() has a refusal shown as a page to a person who may look", async () => {
  const post = { method: "POST", headers: page };
  assert.equal(await ask("/servers", post), "ACCESS_DENIED");
  assert.equal(await ask("/actions", post), "ACCESS_DENIED");
  assert.equal(await ask("/security/tokens", { headers: page }), "ACCESS_DENIED");
});

Deno.test("refuseCaller() gives programs, and those who may not look, the error alone", async () => {
  const thrown = "thrown ACCESS_DENIED";
  assert.equal(await ask("/servers", { method: "POST" }), thrown);
  assert.equal(await ask("/api/tokens", { headers: page }), thrown);
  const bearer = { ...page, authorization: "Bearer x" };
  assert.equal(await ask("/servers", { method: "POST", headers: bearer }), thrown);
  assert.equal(await ask("/servers", { method: "POST", headers: page }, false), thrown);
});

Deno.test("admitToConsole() shows the way in to whoever sends a form after the login has ended", async () => {
  const host = {
    consoleGate: { identify: () => Promise.reject(new GatewayError("TOKEN_REQUIRED")) },
  };
  const req = new Request("http://localhost:3333/servers/git/~restart", {
    method: "POST",
    headers: { ...page, referer: "http://localhost:3333/servers/git?tab=log" },
  });
  const ctx = { req, url: new URL(req.url), state: { host } } as unknown as Context<State>;
  const answer = await admitToConsole(ctx);
  assert.equal(answer.headers.get("location"), "/login?then=%2Fservers%2Fgit%3Ftab%3Dlog");
});

Deno.test("define.handlers() takes no handler without rights, and gives an undeclared one no gateway", () => {
  const GET = () => new Response();
  assert.throws(() => define.handlers({}, { GET }), TypeError);
  assert.throws(() => define.handlers({ GET: [] }, { GET }), TypeError);
  assert.throws(() => define.handlers({ GET: ["read"] }, GET), TypeError);
});

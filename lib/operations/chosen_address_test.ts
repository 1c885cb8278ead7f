import assert from "node:assert/strict";
import { RemoteServer, type ServerSpec } from "../core/server.ts";
import { withChosenAddress } from "./chosen_address.ts";
import type { ServerActor } from "../auth/grants.ts";

const HERE: ServerActor = { via: "console", isHere: true };
const ELSEWHERE: ServerActor = { via: "api", isHere: false };
const AGREED: ServerActor = { via: "mcp", isHere: false, hasAgreed: true };

function at(url: string, more: object = {}): ServerSpec {
  return RemoteServer.parse({ type: "http", url, ...more });
}

async function isAllowed(spec: ServerSpec, by: ServerActor, stored?: ServerSpec): Promise<boolean> {
  const chosen = await withChosenAddress(spec, by, stored);
  return "allowPrivate" in chosen && chosen.allowPrivate === true;
}

Deno.test("withChosenAddress() allows what a person at the machine has typed, and nobody else", async () => {
  for (
    const url of ["http://127.0.0.1:1/", "http://localhost/", "http://[fd00::1]/", "http://10.1/"]
  ) {
    assert.equal(await isAllowed(at(url), HERE), true, url);
    assert.equal(await isAllowed(at(url), ELSEWHERE), false, url);
    const isHere = /127|localhost/.test(url);
    assert.equal(await isAllowed(at(url), AGREED), isHere, `${url}, agreed to here`);
  }
  assert.equal(
    await isAllowed(at("https://mcp.example/"), HERE),
    false,
    "a name hides its address",
  );
  assert.equal(await isAllowed(at("https://nas.example/", { allowPrivate: true }), HERE), true);
});

Deno.test("withChosenAddress() refuses others who allow it themselves", async () => {
  for (const by of [ELSEWHERE, AGREED]) {
    await assert.rejects(
      withChosenAddress(at("http://10.0.0.1/", { allowPrivate: true }), by),
      /own machine/,
    );
  }
});

Deno.test("withChosenAddress() keeps what was chosen for the same place alone", async () => {
  const stored = at("http://127.0.0.1:8000/mcp", { allowPrivate: true });
  assert.equal(await isAllowed(at("http://127.0.0.1:8000/other"), ELSEWHERE, stored), true);
  assert.equal(await isAllowed(stored, ELSEWHERE, stored), true);
  for (
    const url of ["http://127.0.0.1:8001/mcp", "http://169.254.169.254/", "http://10.0.0.1:8000/"]
  ) {
    assert.equal(await isAllowed(at(url), ELSEWHERE, stored), false, url);
    await assert.rejects(
      withChosenAddress(at(url, { allowPrivate: true }), ELSEWHERE, stored),
      url,
    );
  }
});

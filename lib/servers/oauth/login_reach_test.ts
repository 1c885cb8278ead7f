import assert from "node:assert/strict";
import { addressMark, ServerLogin } from "./server_login.ts";
import type { LoginReach } from "./oauth_http.ts";
import { LoginBench } from "./testing/login_bench.ts";

/** Keeps what is asked for, and for which server; refuses the paths that are named. */
function reachOf(...closed: string[]): { reach: LoginReach; asked: string[] } {
  const asked: string[] = [];
  const reach: LoginReach = (server) =>
    Promise.resolve({
      allowUrl({ pathname }) {
        asked.push(`${server} ${pathname}`);
        return closed.includes(pathname)
          ? Promise.reject(new Error(`${pathname} may not be reached`))
          : Promise.resolve();
      },
    });
  return { reach, asked };
}

Deno.test("LoginFlow reaches only where the server it logs in to may lead, to the end", async () => {
  const { reach, asked } = reachOf();
  await using bench = await LoginBench.open({ canRevoke: true }, { reach });
  await bench.logIn();
  await bench.flow.end("files", new AbortController().signal);
  assert.ok(asked.every((line) => line.startsWith("files ")));
  const paths = asked.map((line) => line.split(" ")[1]);
  for (const path of ["/mcp", "/register", "/token", "/revoke"]) {
    assert.ok(paths.includes(path), `${path} is not among ${paths}`);
  }
});

Deno.test("LoginFlow.finish() trades no code at a place that may not be reached", async () => {
  const { reach } = reachOf("/token");
  await using bench = await LoginBench.open({}, { reach });
  await assert.rejects(bench.logIn(), /\/token may not be reached/);
  assert.equal(bench.authority.count("/token"), 0);
});

Deno.test("ServerLogin renews no login at a place that may not be reached", async () => {
  const { reach, asked } = reachOf("/token");
  await using bench = await LoginBench.open();
  await bench.logIn();
  const login = new ServerLogin({
    server: "files",
    mark: addressMark(bench.authority.url),
    owner: "a",
    repository: bench.repository,
    reach,
    learn: () => {},
    onWarning: () => {},
    signal: new AbortController().signal,
  });
  const header = await login.authorization();
  await assert.rejects(login.renew(header), /\/token may not be reached/);
  assert.deepEqual(asked, ["files /token"]);
  assert.equal(bench.authority.count("/token", "refresh_token"), 0);
});

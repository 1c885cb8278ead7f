import assert from "node:assert/strict";
import { join } from "@std/path";
import { cliCommand } from "../cli.ts";
import { AuthorizationServer } from "../fixtures/authorization_server.ts";
import { until } from "../gateway.ts";
import { visit, withServers } from "./oauth_out.ts";

Deno.test("a login by the command line lasts over the end of its token, until it is revoked", async () => {
  await using authority = new AuthorizationServer();
  await withServers({ files: authority.url }, async (console, cli) => {
    const waiting = await console.reaches("needs_login");
    assert.match(waiting.reason, /requires a login: HTTP 401/);

    const child = new Deno.Command(Deno.execPath(), {
      ...cli.settings,
      args: [...cliCommand(), "server", "login", "files", "--wait", "30"],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const lines = child.stdout.pipeThrough(new TextDecoderStream());
    let out = "";
    let page: { status: number; text: string } | undefined;
    for await (const part of lines) {
      out += part;
      const url = /^ {2}(http\S+)$/m.exec(out)?.[1];
      if (url !== undefined) page ??= await visit(url);
    }
    const err = await new Response(child.stderr).text();
    assert.equal((await child.status).code, 0, out + err);
    assert.match(out, /Logged in to files \(ready\)/);
    assert.equal(page?.status, 200);
    assert.match(page.text, /Logged in/);

    assert.equal((await console.reaches("ready")).toolCount, 1);
    assert.match(JSON.stringify(await console.call()), /let in/);

    authority.expireAll();
    assert.match(JSON.stringify(await console.call()), /let in/);
    assert.equal(authority.count("/token", "refresh_token"), 1);

    authority.revokeAll();
    assert.doesNotMatch(JSON.stringify(await console.call()), /let in/);
    assert.match((await console.reaches("needs_login")).reason, /login has ended.*invalid_grant/);
    const { login } = await console.ask("GET", "servers/files/login");
    assert.equal(login.isActive, false);
    assert.match(login.trouble, /invalid_grant/);
  });
});

Deno.test("a login in the console leads to the server and back, and ends with a revocation", async () => {
  await using authority = new AuthorizationServer();
  await withServers({ files: authority.url }, async (console) => {
    const { url } = console.gateway;
    await console.reaches("needs_login");
    const form = await visit(`${url}/servers/files/~login`);
    assert.match(form.text, /action="\/servers\/files\/~login"/);
    const begun = await fetch(`${url}/servers/files/~login`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: url },
      body: "client_id=&client_secret=",
      redirect: "manual",
    });
    await begun.body?.cancel();
    // A page of the gateway's own: no form of it may lead anywhere else.
    assert.equal(begun.status, 303);
    const shown = await visit(new URL(begun.headers.get("location") ?? "", url).href);
    const link = /href="(http:[^"]+\/authorize[^"]*)"/.exec(shown.text)?.[1];
    const back = await visit((link ?? "").replaceAll("&amp;", "&"));
    assert.equal(back.status, 200, back.text);
    assert.match(back.text, /You are logged in to .*files/);
    await console.reaches("ready");
    const loggedIn = await visit(`${url}/servers/files/~login`);
    assert.match(loggedIn.text, /You are logged in/);

    const out = await fetch(`${url}/servers/files/~logout`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: url },
      redirect: "manual",
    });
    await out.body?.cancel();
    assert.equal(out.status, 303);
    assert.equal(authority.liveTokens, 0);
    await console.reaches("needs_login");
    assert.equal((await console.ask("GET", "servers/files/login")).login, null);
  });
});

Deno.test("a call that requires another scope says so, and the next login requests it too", async () => {
  await using authority = new AuthorizationServer({ callScope: "files:write" });
  await withServers({ files: authority.url }, async (console) => {
    await console.reaches("needs_login");
    await console.logIn();
    await console.reaches("ready");
    const refused = JSON.stringify(await console.call());
    assert.match(refused, /LOGIN_SCOPE_REQUIRED/);
    assert.match(refused, /lacks the required scope \(files:write\)/);
    assert.match(refused, /quartermaster server login files/);
    await console.reaches("ready");

    const { login } = await console.ask("POST", "servers/files/login");
    assert.deepEqual(login.scopes, ["files:read", "files:write"]);
    await visit(login.url);
    await console.reaches("ready");
    assert.match(JSON.stringify(await console.call()), /let in/);
  });
});

Deno.test("tokens of a login are in no log, page, answer, backup or file in the clear", async () => {
  await using authority = new AuthorizationServer();
  const key = "canary-key-in-the-address";
  await withServers({ files: `${authority.url}?key=${key}` }, async (console, cli) => {
    await console.reaches("needs_login");
    const { login } = await console.ask("POST", "servers/files/login");
    const state = new URL(login.url).searchParams.get("state") ?? "";
    await visit(login.url);
    await console.reaches("ready");
    authority.expireAll();
    await console.call();
    // The server's refusals repeat what was sent to it.
    authority.behavior.audience = "https://honest.example";
    authority.expireAll();
    await console.call();
    await console.reaches("needs_login");
    const secrets = [...authority.secrets(), state, key];
    assert.ok(secrets.length >= 5);
    const { url } = console.gateway;
    await cli.ok("backup", join(cli.project, "backup.json"));
    const texts: Record<string, string> = {
      backup: await Deno.readTextFile(join(cli.project, "backup.json")),
      log: console.gateway.log(),
      metrics: (await visit(`${url}/metrics`)).text,
      page: (await visit(`${url}/servers/files`)).text,
      login: (await visit(`${url}/servers/files/~login`)).text,
      activity: (await visit(`${url}/activity`)).text,
      api: JSON.stringify(await console.ask("GET", "servers/files")),
      apiLogin: JSON.stringify(await console.ask("GET", "servers/files/login")),
      lines: JSON.stringify(await console.ask("GET", "servers/files/logs")),
    };
    const latin = new TextDecoder("latin1");
    const folders = [cli.dataDir, join(cli.dataDir, "logs")];
    for (const folder of folders) {
      for await (const { name, isFile } of Deno.readDir(folder)) {
        if (isFile) texts[name] = latin.decode(await Deno.readFile(join(folder, name)));
      }
    }
    for (const [place, text] of Object.entries(texts)) {
      for (const secret of secrets) assert.ok(!text.includes(secret), `${place} has a secret`);
    }
  });
});

Deno.test("a login goes to no other server, also where its name is taken over", async () => {
  await using authority = new AuthorizationServer();
  await using thief = new AuthorizationServer();
  await withServers({ files: authority.url }, async (console, cli) => {
    await console.reaches("needs_login");
    await console.logIn();
    await console.reaches("ready");
    await cli.write(join(cli.project, ".mcp.json"), { mcpServers: { files: { url: thief.url } } });
    await until(() => thief.shown.length > 0 || undefined);
    await console.reaches("needs_login");
    assert.deepEqual(thief.shown.filter((header) => header !== null), []);
    assert.deepEqual(thief.requests, []);
    const gone = await until(async () =>
      (await console.ask("GET", "servers/files/login")).login === null || undefined
    );
    assert.ok(gone);
    assert.equal(authority.liveTokens, 0, "it was revoked");
  });
});

import assert from "node:assert/strict";
import { EndpointClient } from "../faults.ts";
import { until } from "../gateway.ts";
import { bytesIn, crawl, readApi } from "./canaries.ts";
import { CanarySetting } from "./canary_setting.ts";

const MOST_PAGES = 70;

async function reaches(setting: CanarySetting, name: string, state: string): Promise<void> {
  await until(async () => {
    const text = await (await fetch(`${setting.url}/api/servers/${name}`)).text();
    return text.includes(`"state":"${state}"`) ? true : undefined;
  });
}

Deno.test("30 secrets go to the servers they are for, and to no log, store, export, page or error", async (test) => {
  await using setting = await CanarySetting.start();
  const { canaries } = setting;

  await test.step("secrets that are set reach the servers that refer to them", async () => {
    const missing = await until(async () => {
      const text = await (await fetch(`${setting.url}/api/servers/local`)).text();
      return text.includes("is not set") ? text : undefined;
    });
    assert.match(missing, /the secret IN_ARGS is not set.*secrets set IN_ARGS/);
    const value = canaries.make("secret IN_ARGS");
    const answer = await setting.send("PUT", "/api/secrets/IN_ARGS", { value });
    assert.match(answer, /^200 /);
    setting.check("PUT /api/secrets", answer);
    const form = { action: "set", name: "IN_URL", value: canaries.make("secret IN_URL") };
    assert.match(await setting.submit("/security/secrets", form), /^303 /);
    await reaches(setting, "local", "ready");
    await reaches(setting, "web", "ready");
  });

  await test.step("entries that are added while it runs", async () => {
    const added = [
      ["POST", "api_web", {
        url: `${setting.remote}/mcp?token=${canaries.make("api url")}`,
        headers: { "X-Any": canaries.make("api header") },
      }],
      ["POST", "api_local", {
        ...setting.program({ LEAK_A: canaries.make("api env") }, [
          `--secret=${canaries.make("api args")}`,
        ]),
      }],
    ] as const;
    for (const [method, name, entry] of added) {
      assert.match(await setting.send(method, "/api/servers", { name, ...entry }), /^201 /);
    }
    const gateway = await EndpointClient.open(`${setting.url}/gateway/mcp`);
    const byTool = await gateway.call("add_server", {
      name: "mcp_web",
      url: `${setting.remote}/mcp`,
      headers: { "X-Any": canaries.make("mcp header") },
    });
    assert.notEqual(byTool.result?.isError, true, JSON.stringify(byTool));
    const byForm = await setting.submit("/servers/~new", {
      entry: `${setting.remote}/mcp`,
      name: "form_web",
      settings: `X-Any: ${canaries.make("form header")}`,
    });
    assert.match(byForm, /^303 /);

    const refused = {
      name: "refused",
      url: `${setting.remote}/broken?token=${canaries.make("url of a refused entry")}`,
      headers: { "X-Any": canaries.make("header of a refused entry") },
    };
    const api = await setting.send("POST", "/api/servers", refused);
    assert.match(api, /^502 .*HTTP 500/s);
    setting.check("a refused entry, by API", api);
    const mcp = JSON.stringify(await gateway.call("add_server", refused));
    assert.match(mcp, /HTTP 500/);
    setting.check("a refused entry, by MCP", mcp);
  });
  assert.ok(canaries.size >= 30, String(canaries.size));

  const servers = ["local", "web", "api_web", "api_local", "mcp_web", "form_web"];
  const known = canaries.places.filter((place) =>
    /^(config|secret|env file|api|mcp|form)\b/.test(place)
  );

  await test.step("servers tell what they know in every way", async () => {
    let told = "";
    for (const server of servers) {
      const client = await EndpointClient.open(
        `${setting.url}/servers/${server}/mcp?names=original`,
      );
      for (const tool of ["tell", "fail", "refuse", "write"]) {
        told += JSON.stringify(await client.call(tool));
      }
      // What a caller sends is its own; what the gateway knows as a secret is kept nowhere else.
      for (const place of known.slice(0, 8)) {
        await client.call("echo", { text: canaries.textOf(place) });
      }
      await client.call("echo", { password: canaries.textOf("the admin token") });
    }
    // Else nothing that is looked for below could be anywhere.
    const missed = known.filter((place) => !canaries.in(told + setting.seen()).includes(place));
    assert.deepEqual(missed, []);
    for (const server of ["local", "api_local"]) {
      const client = await EndpointClient.open(
        `${setting.url}/servers/${server}/mcp?names=original`,
      );
      setting.check(`the end of ${server}`, JSON.stringify(await client.call("crash")));
    }
  });

  await test.step("what callers are told of servers", async () => {
    const gateway = await EndpointClient.open(`${setting.url}/gateway/mcp`);
    const all = [...servers, "absent", "unreachable", "wants_login", "broken", "page"];
    const calls: [string, object][] = [
      ["list_servers", {}],
      ...all.map((name): [string, object] => ["get_server_logs", { name, lines: 1_000 }]),
      ...all.map((server): [string, object] => ["get_enabled_tools", { server }]),
      ...["absent", "broken", "wants_login"].map((name): [string, object] => [
        "restart_server",
        { name },
      ]),
    ];
    for (const [name, args] of calls) {
      const answer = await gateway.request("tools/call", { name, arguments: args });
      setting.check(`${name} ${JSON.stringify(args)}`, JSON.stringify(answer));
    }
    const combined = await EndpointClient.open(`${setting.url}/mcp?expose=all`);
    setting.check("tools/list", JSON.stringify(await combined.request("tools/list", {})));
    for (const name of ["unreachable", "broken", "absent"]) {
      const error = await EndpointClient.open(`${setting.url}/servers/${name}/mcp`).then(
        (client) => client.call("tell").then((answer) => JSON.stringify(answer)),
        (error) => String(error),
      );
      setting.check(`a call of ${name}`, error);
    }
  });

  await test.step("pages", async () => {
    let pages = 0;
    for await (const [path, html] of crawl(setting.url, MOST_PAGES)) {
      setting.check(path, html);
      pages++;
    }
    assert.ok(pages > 40, String(pages));
  });

  await test.step("the API, metrics and readiness", async () => {
    let answers = 0;
    for await (const [path, text] of readApi(setting.url, [...servers, "absent", "broken"])) {
      setting.check(path, text);
      answers++;
    }
    assert.ok(answers > 60, String(answers));
    for (const path of ["/metrics", "/readyz", "/healthz"]) {
      setting.check(path, await (await fetch(setting.url + path)).text());
    }
  });

  await test.step("the live channel", async () => {
    const response = await fetch(`${setting.url}/api/events?since=x`);
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    setting.check("/api/events", new TextDecoder().decode(value));
  });

  await test.step("a backup", async () => {
    const backup = await setting.submit("/settings/backup", {});
    assert.match(backup, /"quartermaster-backup"/);
    assert.match(backup, /"servers","api_web"/);
    assert.match(backup, /"secrets","IN_ENV"/);
    setting.check("a backup", backup);
  });

  await test.step("logs, and every byte of the data folder, running and stopped", async () => {
    assert.match(setting.log(), /"msg":"stderr"/);
    setting.check("the log on stderr", setting.log());
    const look = async () => {
      const files: string[] = [];
      for await (const [path, text] of bytesIn(setting.dataDir, new Set())) {
        setting.check(path, text);
        files.push(path);
      }
      return files;
    };
    const files = await look();
    assert.ok(files.some((file) => file.endsWith(".kv-wal")), files.join());
    assert.ok(files.some((file) => file.startsWith("logs")), files.join());
    await setting.stop();
    assert.ok((await look()).some((file) => file.endsWith(".kv")));
  });
});

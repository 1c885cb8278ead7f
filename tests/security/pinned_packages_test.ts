import assert from "node:assert/strict";
import { join } from "@std/path";
import { EndpointClient } from "../faults.ts";
import { hasNpx, NOTES, NpxGateway } from "../npx_gateway.ts";

const ignore = !hasNpx;

Deno.test({
  name: "a moved `latest` does not run until its update was reviewed with its tools' changes",
  ignore,
  async fn(t) {
    await using npx = await NpxGateway.open({ changes: "hold" });
    await npx.reach("ready");
    const first = { description: "Notes of 1.0.0", answer: "note of 1.0.0" };
    assert.deepEqual(await npx.seen(), first);
    npx.publish("1.1.0");

    await t.step("a restart of the server and of the gateway runs what was pinned", async () => {
      await npx.restart();
      assert.deepEqual(await npx.seen(), first);
      await npx.start();
      await npx.reach("ready");
      assert.deepEqual(await npx.seen(), first);
    });

    await t.step("the update is shown with its changes; what runs stays", async () => {
      const checked = await npx.cli("package", "check");
      assert.match(checked.text, /notes: @acme\/notes 1\.0\.0 -> 1\.1\.0, published /);
      const refused = await npx.cli("server", "update", "notes");
      assert.equal(refused.code, 2);
      assert.match(refused.text, /--yes/);
      const tried = await npx.cli("package", "try", "notes");
      assert.match(tried.text, /note {2}changed/);
      assert.match(tried.text, /description: Notes of 1\.\[-0-\]\{\+1\+\}\.0/);
      assert.deepEqual(await npx.seen(), first);
    });

    await t.step("nobody accepts a release that was not the one they saw", async () => {
      const refused = await npx.api("package.update", {
        name: "notes",
        fingerprint: "0123456789abcdef",
      });
      assert.match(JSON.stringify(refused), /"CONFLICT"/);
      assert.deepEqual(await npx.seen(), first);
    });

    await t.step("accepted, it runs with the tools that were reviewed", async () => {
      const { text, code } = await npx.cli("server", "update", "notes", "--yes");
      assert.equal(code, 0, text);
      assert.match(text, /notes runs @acme\/notes 1\.1\.0\./);
      assert.deepEqual(await npx.seen(), {
        description: "Notes of 1.1.0",
        answer: "note of 1.1.0",
      });
      const { items } = await npx.api<{ items: unknown[] }>("review.list");
      assert.deepEqual(items, []);
      const actions = (await npx.audited()).filter((action) => action.startsWith("package."));
      assert.deepEqual(actions, ["package.pin", "package.update"]);
    });
  },
});

Deno.test({
  name: "a swapped archive does not run, and the refusal is in the audit log",
  ignore,
  async fn() {
    await using npx = await NpxGateway.open();
    await npx.reach("ready");
    npx.publish("1.0.0", "Swapped");
    await Deno.remove(join(npx.folder, "cache"), { recursive: true });
    await npx.restart();
    assert.match(await npx.reach("failed"), /@acme\/notes 1\.0\.0 is not what was pinned/);
    const client = await EndpointClient.open(`${npx.url}/servers/notes/mcp?names=original`);
    const answer = await client.call("note");
    assert.match(JSON.stringify(answer), /PACKAGE_CHANGED/);
    assert.ok((await npx.audited()).includes("package.changed"));
    const { code } = await npx.cli("package", "forget", "notes");
    assert.equal(code, 2, "It was not confirmed");
    await npx.cli("package", "forget", "notes", "--yes");
    await npx.restart();
    assert.equal((await npx.seen()).description, "Swapped");
  },
});

Deno.test({
  name: "an update that does not start after it was tried is not reported as running",
  ignore,
  async fn() {
    await using npx = await NpxGateway.open();
    await npx.reach("ready");
    npx.publish("1.1.0", "Second", 'if (require("fs").existsSync("broken")) process.exit(1);');
    await npx.cli("package", "try", "notes");
    await Deno.writeTextFile(join(npx.folder, "broken"), "");
    const { servers: [notes] } = await npx.api<
      { servers: { update: { fingerprint: string } }[] }
    >("package.list");
    const { fingerprint } = notes!.update;
    const { problem, packages: { packages } } = await npx.api<
      { problem: string; packages: { packages: { version: string }[] } }
    >("package.update", { name: "notes", fingerprint });
    assert.match(problem, /notes/);
    assert.equal(packages[0]?.version, "1.1.0");
  },
});

Deno.test({
  name: "what a consent was given for is what runs later",
  ignore,
  async fn() {
    await using npx = await NpxGateway.open({ command: null });
    const model = await EndpointClient.open(`${npx.url}/gateway/mcp`);
    await model.call("add_server", {
      name: "notes",
      command: "npx",
      args: ["-y", `${NOTES}@latest`],
      env: npx.env,
    });
    const { consents: [consent] } = await npx.api<{ consents: { id: string }[] }>("consent.list");
    await npx.api("consent.approve", { id: consent!.id });
    await npx.reach("ready");
    npx.publish("1.1.0");
    await npx.restart();
    assert.equal((await npx.seen()).answer, "note of 1.0.0");
  },
});

// deno-lint-ignore-file no-import-prefix -- not in deno.json, so that a start does not fetch it
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "npm:@modelcontextprotocol/client@~2.4.0/ext/skills";
import * as z from "zod";
import { Endpoints } from "./combined_endpoints.ts";
import { fixtureCommand } from "./fixtures/start_fixture.ts";

async function connect(url: string, path: string, mode: "auto" | "legacy") {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(path, url)));
  return {
    client,
    skills: new SkillsClient(client),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

Deno.test("skills of servers are listed, read and verified through the gateway, and found by search", async (t) => {
  await using endpoints = await Endpoints.open({
    first: fixtureCommand("skills_server", ["first"]),
    second: fixtureCommand("skills_server", ["second"]),
  });
  for (const mode of ["legacy", "auto"] as const) {
    await t.step(`at a server's own endpoint (${mode})`, async () => {
      await using direct = await connect(endpoints.url, "/servers/first/mcp", mode);
      assert.ok(direct.skills.supported);
      const { skills: [skill] } = await direct.skills.list();
      assert.equal(skill?.uri, "skill://release-notes/SKILL.md");
      assert.match((await direct.skills.read(skill)).body ?? "", /Written by first/);
    });

    await t.step(`at /mcp, where both have the same skill (${mode})`, async () => {
      await using all = await connect(endpoints.url, "/mcp", mode);
      assert.ok(all.skills.supported, "announced");
      const { skills } = await all.skills.list();
      assert.deepEqual(skills.map(({ uri }) => uri).sort(), [
        "skill://first.quartermaster/release-notes/SKILL.md",
        "skill://second.quartermaster/release-notes/SKILL.md",
      ]);
      for (const skill of skills) {
        const marker = skill.uri.includes("first") ? "first" : "second";
        const manifest = await all.skills.read(skill);
        assert.ok(manifest.verified);
        assert.match(manifest.body ?? "", new RegExp(`Written by ${marker}`));
        const guide = await all.skills.read(skill, "references/GUIDE.md");
        assert.equal(guide.text, `The guide of ${marker}`);
        assert.equal((await all.skills.get(skill.uri)).skill.uri, skill.uri);
        const { resources } = await all.skills.readDirectory(skill.uri.replace("/SKILL.md", ""));
        assert.ok(resources.some(({ uri }) => uri === skill.uri), JSON.stringify(resources));
      }
    });
  }

  await t.step("beside the tools that they use", async () => {
    await using all = await connect(endpoints.url, "/mcp", "legacy");
    const { structuredContent } = await all.client.callTool({
      name: "tool_discovery",
      arguments: { query: "merged pull requests" },
    });
    const { skills } = z.object({
      skills: z.array(z.object({
        skill: z.string(),
        uri: z.string(),
        tools: z.array(z.string()),
      })),
    }).parse(structuredContent);
    assert.deepEqual(skills.map(({ skill, uri, tools }) => [skill, uri, tools]).sort(), [
      ["release-notes", "skill://first.quartermaster/release-notes/SKILL.md", [
        "first.list_changes",
      ]],
      ["release-notes", "skill://second.quartermaster/release-notes/SKILL.md", [
        "second.list_changes",
      ]],
    ]);
  });
});

import assert from "node:assert/strict";
import { exportResponse, importToolsets } from "./toolset_exchange.ts";
import { toolsetsGateway } from "./testing/toolsets_gateway.ts";

const MAX = 10_000;

function sent(fields: Record<string, string | File>): Request {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return new Request("http://localhost/", { method: "POST", body });
}

Deno.test("importToolsets() takes back what exportResponse() gave, pasted or as a file", async () => {
  await using open = await toolsetsGateway({ git: ["status"] });
  const { gateway, toolsets } = open;
  await gateway.toolsets.build({ name: "dev", tools: ["git.status"] });
  const response = await exportResponse(gateway, "dev");
  assert.match(response.headers.get("content-disposition") ?? "", /filename="dev\.json"/);
  const text = await response.text();
  await toolsets.remove("dev");
  const file = new File([text], "dev.json");
  const done = await importToolsets(gateway, sent({ file, text: "" }), MAX);
  assert.deepEqual(done.report?.saved, ["dev"]);
  const again = await importToolsets(gateway, sent({ text }), MAX);
  assert.match(again.report?.toolsets[0]?.problem ?? "", /already/);
  const replaced = await importToolsets(gateway, sent({ text, replace: "true" }), MAX);
  assert.deepEqual(replaced.report?.saved, ["dev"]);
});

Deno.test("importToolsets() says what is wrong and keeps what was pasted", async () => {
  await using open = await toolsetsGateway({ git: ["status"] });
  const done = await importToolsets(open.gateway, sent({ text: "{" }), MAX);
  assert.equal(done.text, "{");
  assert.match(done.error?.message ?? "", /not valid JSON/);
  assert.match(
    (await importToolsets(open.gateway, sent({ text: " " }), MAX)).error?.message ?? "",
    /nothing to import/,
  );
  await assert.rejects(importToolsets(open.gateway, sent({ text: "x".repeat(2 * MAX) }), MAX), {
    code: "PAYLOAD_TOO_LARGE",
  });
});

import assert from "node:assert/strict";
import { EVERYONE } from "../../../../lib/core/access.ts";
import { runOperation } from "../../../../lib/operations/operation.ts";
import { callBy } from "../../../../lib/operations/testing/services.ts";
import { TOOLSET_OPERATIONS } from "../../../../lib/operations/toolsets.ts";
import { importToolsets } from "./exchange.ts";
import { toolsetsGateway } from "../../../../lib/console/testing/toolsets_gateway.ts";

const CALL = callBy(EVERYONE);
const MAX = TOOLSET_OPERATIONS.importFile.fileInput!.maxBytes;

function sent(fields: Record<string, string | File>): Request {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return new Request("http://localhost/", { method: "POST", body });
}

Deno.test("importToolsets() takes back what toolset.export gave, pasted or as a file", async () => {
  await using open = await toolsetsGateway({ git: ["status"] });
  const { gateway, toolsets } = open;
  await gateway.toolsets.build({ name: "dev", tools: ["git.status"] });
  const { exportFile } = TOOLSET_OPERATIONS;
  const { fileName, body } = await runOperation(exportFile, gateway, { names: ["dev"] }, CALL);
  assert.equal(fileName, "dev.json");
  const text = await new Response(body).text();
  await toolsets.remove("dev");
  const file = new File([text], "dev.json");
  const done = await importToolsets(gateway, sent({ file, text: "" }), CALL);
  assert.deepEqual(done.report?.saved, ["dev"]);
  const again = await importToolsets(gateway, sent({ text }), CALL);
  assert.match(again.report?.toolsets[0]?.problem ?? "", /already/);
  const replaced = await importToolsets(gateway, sent({ text, replace: "true" }), CALL);
  assert.deepEqual(replaced.report?.saved, ["dev"]);
});

Deno.test("importToolsets() says what is wrong and keeps what was pasted", async () => {
  await using open = await toolsetsGateway({ git: ["status"] });
  const done = await importToolsets(open.gateway, sent({ text: "{" }), CALL);
  assert.equal(done.text, "{");
  assert.match(done.error?.message ?? "", /not valid JSON/);
  assert.match(
    (await importToolsets(open.gateway, sent({ text: " " }), CALL)).error?.message ?? "",
    /import file is empty/,
  );
  await assert.rejects(importToolsets(open.gateway, sent({ text: "x".repeat(MAX + 1) }), CALL), {
    code: "PAYLOAD_TOO_LARGE",
  });
});

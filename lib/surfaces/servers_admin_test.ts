import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { ServersAdmin, type ServersAdminOptions } from "./servers_admin.ts";

Deno.test("ServersAdmin.add() shows the last lines of a server that fails, cut and masked", async () => {
  const secret = "correct-horse-battery";
  const options: Pick<ServersAdminOptions, "refusal" | "openLink"> & object = {
    refusal: () => Promise.resolve(undefined),
    openLink: (_server, { onLog }) => {
      for (let nth = 0; nth < 50; nth++) {
        onLog(`${nth} ${"x".repeat(490)}${secret}${"y".repeat(2_000)}`, "stderr");
      }
      throw new Error("It broke");
    },
  };
  const admin = new ServersAdmin({
    ...options,
    pool: { find: () => undefined },
    added: { find: () => Promise.resolve(undefined) },
  } as unknown as ServersAdminOptions);
  const spec = { type: "stdio" as const, command: "x", args: [], env: { TOKEN: secret } };
  await assert.rejects(admin.add("git", spec), (error) => {
    assert.ok(error instanceof GatewayError);
    const lines = (error.toBody().hint ?? "").replace("It wrote: ", "").split("\n");
    assert.deepEqual(lines.map((line) => line.split(" ")[0]), ["45", "46", "47", "48", "49"]);
    for (const line of lines) {
      assert.equal(line.length, 500);
      assert.match(line, /x\*\*\*y+…$/);
    }
    return true;
  });
});

import assert from "node:assert/strict";
import { Endpoints } from "./combined_endpoints.ts";
import { fixtureCommand } from "./fixtures/start_fixture.ts";
import { ANSWERS, connectMatrixClient } from "./matrix_clients.ts";

/** Over stdio the server's questions do not name their call. */
Deno.test("parallel calls of a client of 2026-07-28 get each its own question, over stdio", async () => {
  await using endpoints = await Endpoints.open({
    asking: fixtureCommand("matrix_sessions", ["--stdio", "asking"]),
  });
  const askAtOnce = async (url: string, name: string) => {
    await using client = await connectMatrixClient("2026-07-28", url);
    const kinds = ["form", "sampling", "form"];
    return await Promise.all(kinds.map((kind) => client.call(name, { kind })));
  };
  {
    // From its first question on, the gateway knows that calls must be told apart.
    await using client = await connectMatrixClient("2026-07-28", `${endpoints.url}/mcp`);
    assert.match(await client.call("asking_ask", { kind: "form" }), new RegExp(ANSWERS.form));
  }
  const expected = [ANSWERS.form, ANSWERS.sampling, ANSWERS.form];
  const check = (answers: string[]) =>
    answers.forEach((answer, index) => assert.ok(answer.includes(expected[index]!), answer));
  check(await askAtOnce(`${endpoints.url}/mcp`, "asking_ask"));
  check(await askAtOnce(`${endpoints.url}/servers/asking/mcp?names=original`, "ask"));
});

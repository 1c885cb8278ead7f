import assert from "node:assert/strict";
import { ApiError, askApi, readApi } from "./api.ts";
import { stubFetch } from "../testing/stub_fetch.ts";

async function answered(body: BodyInit, status: number) {
  let type: string | null = null;
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    type = request.headers.get("content-type");
    return new Response(body, { status });
  });
  const asked = await askApi(`http://127.0.0.1:${server.addr.port}/asked`, { a: 1 })
    .catch((error: Error) => error.message);
  return { asked, type };
}

Deno.test("askApi() gives the answer, and what went wrong in the gateway's own words", async () => {
  const good = await answered('{"job":1}', 200);
  assert.deepEqual(good, { asked: { job: 1 }, type: "application/json" });
  const refused = await answered('{"error":{"message":"It is paused already"}}', 409);
  assert.equal(refused.asked, "It is paused already");
  assert.equal((await answered("<html>", 502)).asked, "The gateway responded with status 502");
});

Deno.test("askApi() says so where nothing answers", async () => {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response(),
  );
  const url = `http://127.0.0.1:${server.addr.port}/`;
  await server.shutdown();
  await assert.rejects(askApi(url, {}), /is not responding/);
});

Deno.test("ApiError tells what to do, as the gateway says it", async () => {
  const details = async (error: unknown) => {
    using _fetch = stubFetch({ error }, 400);
    return await readApi("/asked").catch((thrown) => ApiError.from(thrown).details);
  };
  const refusal = { message: "No", errorType: "CONFLICT", recoveryAction: "Wait" };
  assert.deepEqual(await details({ ...refusal, recoverySteps: [], hint: "Soon" }), {
    message: "No",
    code: "CONFLICT",
    steps: ["Wait"],
    hint: "Soon",
  });
  assert.deepEqual(await details({ ...refusal, recoverySteps: ["First", "Then"] }), {
    message: "No",
    code: "CONFLICT",
    steps: ["First", "Then"],
  });
  assert.match(ApiError.from(new TypeError("x is not y")).message, /unexpected response/);
});

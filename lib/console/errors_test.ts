import assert from "node:assert/strict";
import { HttpError } from "fresh";
import { GatewayError } from "../core/errors.ts";
import { errorPage, submitForm, wayBack } from "./errors.ts";

Deno.test("errorPage() tells what a known error says, and what to do", () => {
  const page = errorPage(new GatewayError("STORAGE_FULL"));
  assert.equal(page.status, 507);
  assert.equal(page.code, "STORAGE_FULL");
  assert.ok(page.message.endsWith("."));
  assert.equal(page.steps.length, 1);
});

Deno.test("errorPage() says of what is not there that it is not there", () => {
  const { title, status } = errorPage(new GatewayError("SERVER_NOT_FOUND"));
  assert.deepEqual([title, status], ["Not found", 404]);
});

Deno.test("errorPage() keeps a foreign error's text to the log", () => {
  const page = errorPage(new Error("secret path /home/me/token"));
  assert.equal(page.status, 500);
  assert.equal(page.code, "INTERNAL");
  assert.ok(!JSON.stringify(page).includes("secret"));
});

Deno.test("errorPage() keeps the status of a refused request", () => {
  assert.deepEqual(
    [errorPage(new HttpError(404)).code, errorPage(new HttpError(405)).status],
    ["NOT_FOUND", 405],
  );
});

Deno.test("wayBack() leads a form to its page, a page to the one before, and nowhere else", () => {
  const back = (method: string, path: string, referer?: string) =>
    wayBack(
      new Request(`http://localhost:3333${path}`, {
        method,
        headers: referer === undefined ? {} : { referer },
      }),
    );
  const from = "http://localhost:3333";
  assert.equal(back("POST", "/actions", `${from}/servers?sort=state`), "/servers?sort=state");
  assert.equal(back("POST", "/settings", `${from}/settings`), "/settings");
  assert.equal(back("GET", "/security/audit", `${from}/security`), "/security");
  assert.equal(back("GET", "/security/audit", `${from}/security/audit?who=me`), "/");
  assert.equal(back("GET", "/security/audit", `${from}/login?then=/security/audit`), "/");
  assert.equal(back("POST", "/actions", "https://elsewhere.example/servers"), "/");
  assert.equal(back("GET", "/security/audit"), "/");
});

const ctx = {
  redirect: (path: string, status: number) =>
    new Response(null, { status, headers: { location: path } }),
};
const again = (error: GatewayError) => Promise.resolve({ code: error.code });

Deno.test("submitForm() redirects to the result", async () => {
  const answer = await submitForm(ctx, () => Promise.resolve("/next"), again);
  assert.ok(answer instanceof Response);
  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/next"]);
});

Deno.test("submitForm() shows a refused form again with the reason, also without a model", async () => {
  for (const code of ["INVALID_ARGUMENTS", "CANNOT_EVALUATE", "CANNOT_GENERATE"] as const) {
    const error = new GatewayError(code);
    const answer = await submitForm(ctx, () => Promise.reject(error), again);
    assert.ok(!(answer instanceof Response));
    assert.deepEqual([answer.data, answer.status], [{ code }, error.httpStatus]);
  }
});

Deno.test("submitForm() leaves failures of the gateway to the error page", async () => {
  for (const error of [new Error("odd"), new GatewayError("STORAGE_FULL")]) {
    await assert.rejects(submitForm(ctx, () => Promise.reject(error), again), error);
  }
});

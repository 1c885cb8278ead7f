import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { Guard, type GuardOptions } from "./guard.ts";

const local: GuardOptions = { host: "127.0.0.1", port: 3333, maxBody: 100 };

function outcome(options: GuardOptions, headers: Record<string, string>): string {
  const request = { headers: new Headers(headers) } as Request;
  try {
    new Guard(options).check(request);
    return "ok";
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}

Deno.test("Guard.check() accepts this gateway's own addresses only", () => {
  const cases: [string, string][] = [
    ["127.0.0.1:3333", "ok"],
    ["localhost:3333", "ok"],
    ["LOCALHOST:3333", "ok"],
    ["[::1]:3333", "ok"],
    ["127.0.0.1", "FOREIGN_HOST"],
    ["localhost:3334", "FOREIGN_HOST"],
    ["evil.example:3333", "FOREIGN_HOST"],
    ["localhost.evil.example:3333", "FOREIGN_HOST"],
    ["localhost:3333.evil.example", "FOREIGN_HOST"],
    ["192.168.0.5:3333", "FOREIGN_HOST"],
    ["user@localhost:3333", "FOREIGN_HOST"],
    ["", "FOREIGN_HOST"],
  ];
  for (const [host, expected] of cases) assert.equal(outcome(local, { host }), expected, host);
  assert.equal(outcome(local, {}), "FOREIGN_HOST");
});

Deno.test("Guard.check() refuses foreign origins, the opaque one included", () => {
  const host = "localhost:3333";
  const cases: [string, string][] = [
    ["http://localhost:3333", "ok"],
    ["http://127.0.0.1:3333", "ok"],
    ["https://localhost:3333", "FOREIGN_ORIGIN"],
    ["http://localhost", "FOREIGN_ORIGIN"],
    ["http://evil.example", "FOREIGN_ORIGIN"],
    ["http://localhost:3333.evil.example", "FOREIGN_ORIGIN"],
    ["null", "FOREIGN_ORIGIN"],
    ["", "FOREIGN_ORIGIN"],
    ["chrome-extension://abcdef", "FOREIGN_ORIGIN"],
  ];
  for (const [origin, expected] of cases) {
    assert.equal(outcome(local, { host, origin }), expected, origin);
  }
});

Deno.test("Guard.check() refuses a change by another site's page that hides its origin", () => {
  const from = (method: string, site: string) => {
    const headers = new Headers({ host: "localhost:3333", "sec-fetch-site": site });
    try {
      new Guard(local).check({ method, headers } as Request);
      return "ok";
    } catch (error) {
      return error instanceof GatewayError ? error.code : String(error);
    }
  };
  assert.equal(from("POST", "cross-site"), "FOREIGN_ORIGIN");
  assert.equal(from("GET", "cross-site"), "ok", "a link leads here");
  assert.equal(from("POST", "same-origin"), "ok");
});

Deno.test("Guard.check() accepts the public URL, with and without its default port", () => {
  const options = { ...local, publicUrl: "https://gateway.example" };
  assert.equal(
    outcome(options, { host: "gateway.example", origin: "https://gateway.example" }),
    "ok",
  );
  assert.equal(
    outcome(options, { host: "gateway.example", origin: "http://gateway.example" }),
    "FOREIGN_ORIGIN",
  );
  assert.equal(outcome(options, { host: "other.example" }), "FOREIGN_HOST");
});

Deno.test("Guard.check() accepts literal addresses, but no names, once bound beyond loopback", () => {
  const options = { ...local, host: "0.0.0.0" };
  assert.equal(
    outcome(options, { host: "192.168.0.5:3333", origin: "http://192.168.0.5:3333" }),
    "ok",
  );
  assert.equal(outcome(options, { host: "[fe80::1]:3333" }), "ok");
  assert.equal(outcome(options, { host: "192.168.0.5:80" }), "FOREIGN_HOST");
  assert.equal(outcome(options, { host: "rebind.example:3333" }), "FOREIGN_HOST");
  assert.equal(
    outcome(options, { host: "192.168.0.5:3333", origin: "http://rebind.example:3333" }),
    "FOREIGN_ORIGIN",
  );
});

Deno.test("Guard.check() refuses a declared length over the limit", () => {
  const host = "localhost:3333";
  assert.equal(outcome(local, { host, "content-length": "100" }), "ok");
  assert.equal(outcome(local, { host, "content-length": "101" }), "PAYLOAD_TOO_LARGE");
  assert.equal(outcome(local, { host, "content-length": "x" }), "PAYLOAD_TOO_LARGE");
});

Deno.test("Guard.check() lets a path that takes files have more, up to its own limit", () => {
  const guard = new Guard({ ...local, uploads: new Map([["/upload", 500]]) });
  const request = (path: string, length: number) =>
    new Request(`http://localhost:3333${path}`, {
      method: "POST",
      headers: { host: "localhost:3333", "content-length": String(length) },
    });
  guard.check(request("/upload", 500));
  assert.throws(() => guard.check(request("/upload", 501)), { code: "PAYLOAD_TOO_LARGE" });
  assert.throws(() => guard.check(request("/other", 101)), { code: "PAYLOAD_TOO_LARGE" });
});

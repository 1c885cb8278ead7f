import assert from "node:assert/strict";
import { OWNER } from "../auth/credentials.ts";
import { GatewayError } from "../core/errors.ts";
import { addressOf, isFromThisMachine } from "./request_origin.ts";
import { hasForwardedHeader, isForwarded, refuseForwarded } from "./guard.ts";

interface Place {
  hostname?: string;
  principal?: string;
  publicUrl?: string;
}

function asking(headers: Record<string, string>, place: Place = {}) {
  const { hostname = "127.0.0.1", principal = "token:a", publicUrl } = place;
  const remoteAddr: Deno.NetAddr = { transport: "tcp", hostname, port: 1 };
  const req = new Request("http://localhost:3333/", { headers: { host: "localhost:3333" } });
  for (const [name, value] of Object.entries(headers)) req.headers.set(name, value);
  const state = { principal, gateway: { options: { options: { host: "10.0.0.5", publicUrl } } } };
  return { req, info: { remoteAddr, completed: Promise.resolve() }, state };
}

function ask(hostname: string, headers: Record<string, string>): boolean {
  return isFromThisMachine(asking(headers, { hostname }));
}

/** Each way in which proxies tell of themselves. */
const TOLD = [
  "forwarded",
  "via",
  "x-real-ip",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-server",
];

Deno.test("isFromHere() believes neither a neighbor, a foreign name nor a proxy's guest", () => {
  assert.equal(ask("127.0.0.1", {}), true);
  assert.equal(ask("::ffff:127.0.0.1", { host: "[::1]:3333" }), true);
  assert.equal(ask("10.0.0.5", { host: "10.0.0.5:3333" }), true);
  assert.equal(ask("10.0.0.6", {}), false);
  assert.equal(ask("127.0.0.1", { host: "gateway.example" }), false);
  for (const name of TOLD) assert.equal(ask("127.0.0.1", { [name]: "1.2.3.4" }), false, name);
});

Deno.test("isFromHere() believes no page of another place, whatever host is named", () => {
  assert.equal(ask("127.0.0.1", { origin: "http://localhost:3333" }), true);
  assert.equal(ask("127.0.0.1", { origin: "http://[::1]:3333" }), true);
  assert.equal(ask("127.0.0.1", { origin: "https://tools.example.com" }), false);
  assert.equal(ask("127.0.0.1", { origin: "null" }), false);
});

Deno.test("isFromHere() believes the owner's ticket alone where others know the gateway", () => {
  const publicUrl = "https://tools.example.com";
  assert.equal(isFromThisMachine(asking({}, { publicUrl })), false);
  assert.equal(isFromThisMachine(asking({}, { publicUrl, principal: "everyone" })), false);
  assert.equal(isFromThisMachine(asking({}, { publicUrl, principal: OWNER })), true);
  assert.equal(isFromThisMachine(asking({}, { publicUrl: "https://localhost:8443" })), true);
});

Deno.test("isForwarded() knows every header by which a proxy tells of itself", () => {
  const request = (name: string) => new Request("http://localhost/", { headers: { [name]: "x" } });
  for (const name of TOLD) assert.equal(isForwarded(request(name)), true, name);
  assert.equal(isForwarded(request("x-request-id")), false);
});

Deno.test("isPlainlyForwarded() knows the usual ones without looking through all headers", () => {
  const looks: string[] = [];
  const request = (name: string) => {
    const made = new Request("http://localhost/", { headers: { [name]: "" } });
    for (const method of ["has", "keys", "entries", "forEach"] as const) {
      made.headers[method] = () => {
        looks.push(method);
        throw new Error(`${method}() copies all headers`);
      };
    }
    return made;
  };
  for (const name of TOLD.slice(0, 6)) assert.equal(hasForwardedHeader(request(name)), true, name);
  for (const name of ["host", "x-request-id", "accept"]) {
    assert.equal(hasForwardedHeader(request(name)), false, name);
  }
  assert.deepEqual(looks, []);
});

Deno.test("refuseGuest() says how to come in through a proxy", () => {
  refuseForwarded(new Request("http://localhost/"));
  const guest = new Request("http://localhost/", { headers: { via: "1.1 proxy" } });
  assert.throws(() => refuseForwarded(guest), (error: unknown) => {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, "TOKEN_REQUIRED");
    assert.match(error.message, /proxy/);
    assert.match(error.details.recoverySteps?.join() ?? "", /token create.*--public-url/s);
    return true;
  });
});

Deno.test("addressOf() says from where, and for whom a proxy forwards", () => {
  const addressFor = (headers: Record<string, string>) => {
    const { req, info } = asking(headers);
    return addressOf(req, info);
  };
  assert.equal(addressFor({}), "127.0.0.1");
  assert.equal(
    addressFor({ "x-forwarded-for": "192.0.2.7" }),
    "127.0.0.1, forwarded for 192.0.2.7",
  );
  const forged = Array(20).fill("127.0.0.1").join(", ");
  assert.match(
    addressFor({ "x-forwarded-for": `${forged}, 192.0.2.7` }),
    /^127\.0\.0\.1, forwarded for ".{80,}, 192\.0\.2\.7"$/,
  );
  assert.equal(
    addressFor({ "x-forwarded-for": "x, from 10.0.0.1" }),
    '127.0.0.1, forwarded for "x, from 10.0.0.1"',
  );
});

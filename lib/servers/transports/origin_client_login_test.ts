import assert from "node:assert/strict";
import type { ServerCredentials } from "./origin_client.ts";
import { HttpTransport } from "./http.ts";
import {
  json,
  KeptEvents,
  keptExchange,
  Loopback,
  rejects,
  request,
  result,
  STRICT,
} from "./testing/loopback.ts";

/** A login whose tokens are named in advance. */
class Listed implements ServerCredentials {
  trouble: string | undefined;
  scope: string | undefined;
  readonly #tokens: string[];

  constructor(...tokens: string[]) {
    this.#tokens = tokens;
  }

  authorization(): Promise<string | undefined> {
    return Promise.resolve(this.#tokens[0]);
  }

  renew(sent: string | undefined): Promise<boolean> {
    if (this.#tokens[0] === sent) this.#tokens.shift();
    return Promise.resolve(this.#tokens.length > 0);
  }

  lacksScope(scope: string): void {
    this.scope = scope;
  }
}

function guarded(accepted: string): Loopback {
  return new Loopback(({ headers, id }) => {
    const shown = headers.get("authorization");
    if (shown === accepted) return json(result(id));
    return new Response(`You said ${shown}`, {
      status: 401,
      headers: { "www-authenticate": `Bearer realm="${shown}"` },
    });
  });
}

function open(server: Loopback, credentials: ServerCredentials): HttpTransport {
  return new HttpTransport(
    { url: server.url, headers: {}, serverName: "s", credentials },
    new KeptEvents(),
  );
}

Deno.test(
  "HttpTransport sends the login, and once more where it could be renewed",
  STRICT,
  async () => {
    await using server = guarded("Bearer second");
    await using transport = open(
      server,
      new Listed("Bearer first", "Bearer second", "Bearer third"),
    );
    assert.equal(await transport.request(1, request(1), keptExchange()), result(1));
    assert.deepEqual(server.received.map(({ headers }) => headers.get("authorization")), [
      "Bearer first",
      "Bearer second",
    ]);
  },
);

Deno.test(
  "HttpTransport asks for a login where none is accepted, after one more try",
  STRICT,
  async () => {
    await using server = guarded("Bearer other");
    const credentials = new Listed("Bearer first", "Bearer second-secret", "Bearer third");
    await using transport = open(server, credentials);
    const words = /HTTP 401 .*: it does not accept the token from the login$/;
    const error = await rejects(transport.request(1, request(1), keptExchange()), "login", words);
    assert.equal(server.received.length, 2);
    assert.doesNotMatch(error.message, /second-secret/);
    credentials.trouble = "The login has ended";
    await rejects(
      transport.request(2, request(2), keptExchange()),
      "login",
      /: The login has ended$/,
    );
  },
);

Deno.test("HttpTransport sends a login to no other origin", STRICT, async () => {
  await using foreign = new Loopback(() => new Response());
  await using server = new Loopback(() => Response.redirect(foreign.url, 307));
  await using transport = open(server, new Listed("Bearer first"));
  await rejects(transport.request(1, request(1), keptExchange()), "refused", /another origin/);
  assert.deepEqual(foreign.received, []);
});

Deno.test(
  "HttpTransport says which right is missing, and remembers it for the next login",
  STRICT,
  async () => {
    await using server = new Loopback(() =>
      new Response("", {
        status: 403,
        headers: { "www-authenticate": 'Bearer error="insufficient_scope", scope="files:write"' },
      })
    );
    const credentials = new Listed("Bearer first");
    await using transport = open(server, credentials);
    const words = /lacks the required scope \(files:write\)/;
    await rejects(transport.request(1, request(1), keptExchange()), "refused", words);
    assert.equal(credentials.scope, "files:write");
  },
);

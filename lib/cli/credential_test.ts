import assert from "node:assert/strict";
import { readOwnerTicket } from "../auth/credentials.ts";
import { Credential } from "./gateway_client.ts";

const GATEWAY = { pid: 7, startedAt: 1_000 };

/** A gateway that lets in who proves to know its secret, or has its token. */
class GuardedGateway implements AsyncDisposable {
  readonly secret = new Uint8Array(32);
  readonly shown: (string | null)[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
      const header = request.headers.get("authorization");
      this.shown.push(header);
      const bearer = header?.slice("Bearer ".length) ?? "";
      const isKnown = bearer === "mine" || readOwnerTicket(bearer, this.secret, GATEWAY);
      return new Response(null, { status: isKnown ? 200 : 401 });
    });
  }

  async ask(credential: Credential): Promise<number> {
    const response = await credential.fetch(`http://127.0.0.1:${this.#server.addr.port}/`, {
      signal: AbortSignal.timeout(10_000),
    });
    await response.body?.cancel();
    return response.status;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server.shutdown();
  }
}

Deno.test("Credential.fetch() proves nothing until asked, then at once", async () => {
  await using gateway = new GuardedGateway();
  let reads = 0;
  const secret = () => Promise.resolve((reads++, gateway.secret.slice()));
  const credential = new Credential({ owner: { gateway: GATEWAY, secret } });
  assert.deepEqual([await gateway.ask(credential), await gateway.ask(credential)], [200, 200]);
  assert.deepEqual(gateway.shown.map((header) => header !== null), [false, true, true]);
  assert.equal(reads, 1);
});

Deno.test("Credential.fetch() proves it for each of several requests at once", async () => {
  await using gateway = new GuardedGateway();
  const secret = () => Promise.resolve(gateway.secret.slice());
  const credential = new Credential({ owner: { gateway: GATEWAY, secret } });
  const asked = [1, 2, 3].map(() => gateway.ask(credential));
  assert.deepEqual(await Promise.all(asked), [200, 200, 200]);
});

Deno.test("Credential.fetch() reads the secret again where that failed once", async () => {
  await using gateway = new GuardedGateway();
  let reads = 0;
  const credential = new Credential({
    owner: {
      gateway: GATEWAY,
      secret: () =>
        ++reads === 1
          ? Promise.reject(new Error("The store is locked"))
          : Promise.resolve(gateway.secret.slice()),
    },
  });
  assert.deepEqual([await gateway.ask(credential), await gateway.ask(credential)], [401, 200]);
});

Deno.test("Credential.fetch() reads the secret again where its proof is refused", async () => {
  await using gateway = new GuardedGateway();
  const secret = () => Promise.resolve(gateway.secret.slice());
  const credential = new Credential({ owner: { gateway: GATEWAY, secret } });
  assert.equal(await gateway.ask(credential), 200);
  gateway.secret.fill(1);
  assert.equal(await gateway.ask(credential), 200);
  assert.equal(gateway.shown.length, 4);
});

Deno.test("Credential.fetch() asks twice at most, and shows a given token alone", async () => {
  await using gateway = new GuardedGateway();
  const secret = () => Promise.resolve(new Uint8Array(32).fill(9));
  const owner = { gateway: GATEWAY, secret };
  const wrong = new Credential({ owner });
  assert.equal(await gateway.ask(wrong), 401);
  assert.equal(gateway.shown.length, 2);
  assert.equal(await gateway.ask(new Credential({ token: "mine", owner })), 200);
  assert.equal(await gateway.ask(new Credential({ token: "other", owner })), 401);
  assert.deepEqual(gateway.shown.slice(2), ["Bearer mine", "Bearer other"]);
});

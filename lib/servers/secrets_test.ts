import assert from "node:assert/strict";
import { GatewayError } from "../core/errors.ts";
import { ServerSpec } from "../core/server.ts";
import { AesBox } from "../storage/sealing.ts";
import { SecretsRepository } from "../storage/secrets_repository.ts";
import { Store } from "../storage/store.ts";
import { TransportClosed } from "./transports/transport.ts";
import type { PooledServer } from "./server.ts";
import { ServerSecrets } from "./secrets.ts";

function server(name: string, spec: object): PooledServer {
  return { name, spec: ServerSpec.parse(spec), source: { kind: "store" } };
}

const USES_A = server("a", { type: "stdio", command: "run", env: { T: "${secret:A}" } });
const USES_B = server("b", {
  type: "http",
  url: "https://example.com/${secret:B}/mcp",
  headers: { Authorization: "Bearer ${secret:B}" },
});
const PLAIN = server("plain", { type: "stdio", command: "run", env: { T: "x" } });

interface Parts {
  repository: SecretsRepository;
  secrets: ServerSecrets;
  learned: string[];
  /** Names of secrets kept elsewhere that were read. */
  asked: string[];
  useKey(byte: number | undefined): void;
}

async function withSecrets(work: (parts: Parts) => Promise<void>): Promise<void> {
  await using store = await Store.open({ location: ":memory:" });
  let byte: number | undefined = 1;
  const box = () =>
    byte === undefined
      ? Promise.reject(new GatewayError("NOT_AVAILABLE_HERE", { message: "There is no key" }))
      : AesBox.of(new Uint8Array(32).fill(byte));
  const repository = new SecretsRepository(store, box);
  const learned: string[] = [];
  const asked: string[] = [];
  const secrets = new ServerSecrets({
    repository,
    keyId: async () => (await box()).keyId,
    learn: (values) => void learned.push(...values),
    openElsewhere(names) {
      asked.push(...names);
      return Promise.resolve(new Map(names.map((name) => [name, `value ${asked.length}`])));
    },
  });
  await work({ repository, secrets, learned, asked, useKey: (next) => byte = next });
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(() => undefined, (error) => error);
  assert.ok(error instanceof TransportClosed, Deno.inspect(error));
  assert.equal(error.kind, "refused");
  return error.message;
}

Deno.test("ServerSecrets.fill() gives the values, once everybody knows what not to write", () =>
  withSecrets(async ({ repository, secrets, learned }) => {
    await repository.set("A", "value-a");
    await repository.set("B", "value-b");
    await secrets.prepare([USES_A, USES_B]);
    assert.deepEqual(await secrets.fill(USES_A.spec), { ...USES_A.spec, env: { T: "value-a" } });
    assert.deepEqual(await secrets.fill(USES_B.spec), {
      ...USES_B.spec,
      url: "https://example.com/value-b/mcp",
      headers: { Authorization: "Bearer value-b" },
    });
    assert.deepEqual(learned, ["value-a", "value-b"]);
    assert.equal(await secrets.fill(PLAIN.spec), PLAIN.spec);
  }));

Deno.test("ServerSecrets.fill() reads a secret that is kept elsewhere at each start, and not before", () =>
  withSecrets(async ({ repository, secrets, learned, asked }) => {
    await repository.set("A", "value-a");
    const mixed = server("m", {
      type: "stdio",
      command: "run",
      env: { A: "${secret:A}", K: "${keychain:K}", V: "Bearer ${vault:app/db#key}" },
    });
    const [prepared] = await secrets.prepare([mixed]);
    assert.equal(prepared?.problem, undefined);
    assert.deepEqual(asked, []);
    const env = { A: "value-a", K: "value 2", V: "Bearer value 2" };
    assert.deepEqual(await secrets.fill(mixed.spec), { ...mixed.spec, env });
    assert.deepEqual(asked, ["keychain:K", "vault:app/db#key"]);
    const url = server("u", {
      type: "http",
      url: "https://example.com/${vault:app/db#key}/mcp?o=${op://v/i/f}",
    });
    const filled = await secrets.fill(url.spec);
    assert.equal("url" in filled && filled.url, "https://example.com/value 4/mcp?o=value 4");
    asked.splice(2);
    learned.splice(3);
    assert.deepEqual(learned.sort(), ["value 2", "value 2", "value-a"]);
    const again = { A: "value-a", K: "value 4", V: "Bearer value 4" };
    assert.deepEqual(await secrets.fill(mixed.spec), { ...mixed.spec, env: again });
  }));

Deno.test("ServerSecrets.prepare() says which secret is missing and how to set it", () =>
  withSecrets(async ({ repository, secrets }) => {
    const [a, b, plain] = await secrets.prepare([{ ...USES_A, problem: "held" }, USES_B, PLAIN]);
    assert.match(a?.problem ?? "", /^held; the secret A is not set: .*secrets set A`$/);
    assert.match(b?.problem ?? "", /^the secret B is not set: set it in the console/);
    assert.equal(plain, PLAIN);
    assert.match(await refusal(secrets.fill(USES_A.spec)), /^the secret A is not set/);
    await repository.set("A", "value");
    const [after] = await secrets.prepare([USES_A]);
    assert.equal(after?.problem, undefined);
  }));

Deno.test("ServerSecrets.prepare() stamps exactly the servers whose secret was changed", () =>
  withSecrets(async ({ repository, secrets }) => {
    await repository.set("A", "one");
    await repository.set("B", "one");
    const before = await secrets.prepare([USES_A, USES_B, PLAIN]);
    assert.deepEqual(await secrets.prepare([USES_A, USES_B, PLAIN]), before);
    await secrets.fill(USES_A.spec);
    await repository.set("A", "two");
    const after = await secrets.prepare([USES_A, USES_B, PLAIN]);
    assert.notEqual(after[0]?.secretsStamp, before[0]?.secretsStamp);
    assert.deepEqual(after.slice(1), before.slice(1));
    assert.deepEqual(await secrets.fill(USES_A.spec), { ...USES_A.spec, env: { T: "two" } });
  }));

Deno.test("ServerSecrets.fill() gives no value that was opened before another was set", () =>
  withSecrets(async ({ repository, secrets }) => {
    await repository.set("A", "one");
    await secrets.prepare([USES_A]);
    const open = repository.open.bind(repository);
    const slow = Promise.withResolvers<void>();
    const isOpened = Promise.withResolvers<void>();
    repository.open = async (name) => {
      const found = await open(name);
      isOpened.resolve();
      await slow.promise;
      return found;
    };
    const before = secrets.fill(USES_A.spec);
    await isOpened.promise;
    await repository.set("A", "two");
    await secrets.prepare([USES_A]);
    slow.resolve();
    await before;
    assert.deepEqual(await secrets.fill(USES_A.spec), { ...USES_A.spec, env: { T: "two" } });
    repository.open = () => Promise.reject(new Error("The store is away"));
    assert.deepEqual(await secrets.fill(USES_A.spec), { ...USES_A.spec, env: { T: "two" } });
  }));

Deno.test("ServerSecrets.prepare() says that the key is another one, or that there is none", () =>
  withSecrets(async ({ repository, secrets, useKey }) => {
    await repository.set("A", "value");
    useKey(2);
    const [wrong] = await secrets.prepare([USES_A]);
    assert.match(wrong?.problem ?? "", /^the secret A was encrypted with a different key: set it/);
    assert.match(await refusal(secrets.fill(USES_A.spec)), /encrypted with key/);
    useKey(undefined);
    const [none] = await secrets.prepare([USES_A]);
    assert.equal(none?.problem, "There is no key");
    useKey(1);
    assert.equal((await secrets.prepare([USES_A]))[0]?.problem, undefined);
    assert.deepEqual(await secrets.fill(USES_A.spec), { ...USES_A.spec, env: { T: "value" } });
  }));

Deno.test("ServerSecrets.fill() refuses a value that leads elsewhere or cannot be sent", () =>
  withSecrets(async ({ repository, secrets }) => {
    const inHost = server("c", { type: "http", url: "https://u:${secret:C}@example.com/mcp" });
    for (const value of ["x@evil.example/", "x/", "x?", "x#"]) {
      await repository.set("C", value);
      await secrets.prepare([inHost]);
      assert.match(await refusal(secrets.fill(inHost.spec)), /in its URL changes the host$/);
    }
    await repository.set("B", "two\nlines");
    await secrets.prepare([USES_B]);
    const words = await refusal(secrets.fill(USES_B.spec));
    assert.match(words, /^its header "Authorization" cannot be sent/);
    assert.doesNotMatch(words, /lines/);
  }));

import assert from "node:assert/strict";
import { openElsewhere } from "./sources.ts";
import { SecretUnavailable } from "./source.ts";

type Answers = Record<string, { status?: number; body: unknown }>;

/** A service on this machine that answers by path and query. */
function service(answers: Answers, headers: Record<string, string>) {
  const asked: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      const { pathname, search } = new URL(request.url);
      const path = decodeURIComponent(pathname + search);
      asked.push(path);
      const isKnown = Object.entries(headers).every(([name, value]) =>
        request.headers.get(name) === value
      );
      if (!isKnown) return Response.json({ errors: ["permission denied"] }, { status: 403 });
      const answer = answers[path];
      return Response.json(answer?.body ?? {}, { status: answer?.status ?? (answer ? 200 : 404) });
    },
  );
  return {
    asked,
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function context(variables: Record<string, string>, library?: string) {
  const learned: string[] = [];
  const env = { get: (name: string) => variables[name] };
  return {
    learned,
    env,
    learn: (values: string[]) => void learned.push(...values),
    ...(library === undefined ? {} : { library }),
  };
}

async function problemOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(() => undefined, (error) => error);
  assert.ok(error instanceof SecretUnavailable, Deno.inspect(error));
  return error.message;
}

function mount(path: string, type: string, version?: string) {
  return { body: { data: { path, type, options: version && { version } } } };
}

/** As Vault 1.x answers; the paths are those of its documentation. */
const VAULT: Answers = {
  "/v1/sys/internal/ui/mounts/secret/app/db": mount("secret/", "kv", "2"),
  "/v1/secret/data/app/db": {
    body: { data: { data: { password: "v2-value", port: 5432 }, metadata: { version: 3 } } },
  },
  "/v1/sys/internal/ui/mounts/secret/gone": mount("secret/", "kv", "2"),
  "/v1/secret/data/gone": { status: 404, body: { data: { data: null, metadata: {} } } },
  "/v1/sys/internal/ui/mounts/old/team/app": mount("old/team/", "kv", "1"),
  "/v1/old/team/app": { body: { data: { key: "v1-value" } } },
  "/v1/sys/internal/ui/mounts/auth/token/lookup-self": mount("auth/token/", "token"),
  "/v1/auth/token/lookup-self": { body: { data: { id: "the-token" } } },
  "/v1/sys/internal/ui/mounts/down/app": { status: 503, body: { errors: ["sealed v2-value"] } },
};
const VAULT_HEADERS = { "x-vault-token": "vault-token", "x-vault-namespace": "team" };
const PASSWORD = "vault:secret/app/db#password";

Deno.test("openElsewhere() reads both versions of the key-value engine of Vault", async () => {
  await using vault = service(VAULT, VAULT_HEADERS);
  const variables = { VAULT_ADDR: `${vault.url}/`, VAULT_TOKEN: "vault-token" };
  const parts = context({ ...variables, VAULT_NAMESPACE: "team" });
  const old = "vault:old/team/app#key";
  assert.deepEqual(
    [...await openElsewhere([PASSWORD, old], parts)],
    [[PASSWORD, "v2-value"], [old, "v1-value"]],
  );
  assert.equal(vault.asked.length, 4);
  assert.ok(parts.learned.includes("vault-token"));
});

const VAULT_PROBLEMS: [name: string, variables: Record<string, string>, problem: RegExp][] = [
  [PASSWORD, { VAULT_ADDR: "" }, /VAULT_ADDR is not set: set it in the gateway's environment/],
  [PASSWORD, { VAULT_ADDR: "vault:8200" }, /VAULT_ADDR is not a valid http or https URL/],
  [PASSWORD, { VAULT_TOKEN: "" }, /VAULT_TOKEN is not set/],
  [PASSWORD, { VAULT_TOKEN: "other" }, /answered 403: the token is not valid, has expired, or/],
  [PASSWORD, { VAULT_ADDR: "http://127.0.0.1:9" }, /\(127\.0\.0\.1:9\) cannot be reached/],
  ["vault:secret/app/db#nope", {}, /does not have a text under the key nope: see `vault kv get/],
  ["vault:secret/app/db#port", {}, /does not have a text under the key port/],
  ["vault:secret/gone#key", {}, /Vault does not have this path/],
  ["vault:down/app#key", {}, /answered 503: check the address$/],
  // Sends the gateway's own token otherwise.
  ["vault:auth/token/lookup-self#id", {}, /only Vault's key-value secrets can be used$/],
];

for (const [name, variables, problem] of VAULT_PROBLEMS) {
  Deno.test(`openElsewhere() says of ${name}: ${problem.source}`, async () => {
    await using vault = service(VAULT, { "x-vault-token": "vault-token" });
    const usual = { VAULT_ADDR: vault.url, VAULT_TOKEN: "vault-token" };
    const text = await problemOf(openElsewhere([name], context({ ...usual, ...variables })));
    assert.ok(text.startsWith(`the secret ${name}: `), text);
    assert.match(text, problem);
    assert.doesNotMatch(text, /v2-value|vault-token/);
    assert.ok(!vault.asked.includes("/v1/auth/token/lookup-self"));
  });
}

const VAULT_ID = "a".repeat(26);
const ITEM_ID = "b".repeat(26);
/** As 1Password Connect 1.x answers. */
const CONNECT: Answers = {
  '/v1/vaults?filter=name eq "My vault"': { body: [{ id: VAULT_ID, name: "My vault" }] },
  '/v1/vaults?filter=name eq "twice"': { body: [{ id: VAULT_ID }, { id: ITEM_ID }] },
  '/v1/vaults?filter=name eq "none"': { body: [] },
  [`/v1/vaults/${VAULT_ID}/items?filter=title eq "GitHub"`]: { body: [{ id: ITEM_ID }] },
  [`/v1/vaults/${VAULT_ID}/items/${ITEM_ID}`]: {
    body: {
      id: ITEM_ID,
      sections: [{ id: "s1", label: "keys" }, { id: "s2", label: "old" }],
      fields: [
        { id: "password", label: "password", value: "op-password" },
        { id: "f1", label: "token", value: "op-token", section: { id: "s1" } },
        { id: "f2", label: "token", value: "op-old", section: { id: "s2" } },
        { id: "f3", label: "code", value: "otpauth://", totp: "123456" },
        { id: "f4", label: "empty" },
      ],
    },
  },
};

const FIELDS: [name: string, expected: string | RegExp][] = [
  ["op://My vault/GitHub/password", "op-password"],
  ["op://My vault/GitHub/keys/TOKEN", "op-token"],
  [`op://${VAULT_ID}/${ITEM_ID}/f2`, "op-old"],
  ["op://My vault/GitHub/code?attribute=otp", "123456"],
  ["op://My vault/GitHub/token", /has several such fields: name the section too$/],
  ["op://My vault/GitHub/empty", /the item has no field empty with a value$/],
  ["op://My vault/GitHub/code?attribute=type", /cannot read the attribute type: leave it out$/],
  ["op://My vault/nope/token", /the 1Password token sees no item nope$/],
  ["op://none/GitHub/token", /the 1Password token sees no vault none$/],
  ["op://twice/GitHub/token", /several with the name of the vault twice: use its id$/],
];

for (const [name, expected] of FIELDS) {
  Deno.test(`openElsewhere() reads ${name} from 1Password Connect`, async () => {
    await using connect = service(CONNECT, { authorization: "Bearer op-connect" });
    const parts = context({ OP_CONNECT_HOST: connect.url, OP_CONNECT_TOKEN: "op-connect" });
    const reading = openElsewhere([name], parts);
    if (typeof expected === "string") {
      assert.deepEqual([...await reading], [[name, expected]]);
      assert.deepEqual(parts.learned, ["op-connect"]);
    } else assert.match(await problemOf(reading), expected);
  });
}

/** Stands in for a library; the process and all around it are real. */
function library(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

const KEYRING = library(`console.log("loading");
  export class Entry {
    #text;
    constructor(service, name, { linux }) {
      const secret = Deno.env.get("QUARTERMASTER_TEST_SECRET") ?? "clean";
      this.#text = name === "NONE" ? null : [service, name, linux.store, secret].join(" ");
    }
    getPassword() { return this.#text; }
  }`);

Deno.test("openElsewhere() reads the keychain in a process that gets no secret", async () => {
  using stack = new DisposableStack();
  stack.defer(() => Deno.env.delete("QUARTERMASTER_TEST_SECRET"));
  Deno.env.set("QUARTERMASTER_TEST_SECRET", "s");
  const parts = context({}, KEYRING);
  assert.deepEqual([...await openElsewhere(["keychain:A", "keychain:B"], parts)], [
    ["keychain:A", "quartermaster A secret-service clean"],
    ["keychain:B", "quartermaster B secret-service clean"],
  ]);
  assert.equal(
    await problemOf(openElsewhere(["keychain:NONE"], parts)),
    'the secret keychain:NONE: the keychain has no password for service "quartermaster" and ' +
      'account "NONE": store it there, and make sure that the gateway\'s user has an ' +
      "unlocked keychain",
  );
});

Deno.test("openElsewhere() says that the keychain's library cannot be loaded", async () => {
  const parts = context({}, library("throw new Error()"));
  assert.match(
    await problemOf(openElsewhere(["keychain:A"], parts)),
    /^the secret keychain:A: data:.* cannot be loaded, which the first use fetches from npm/,
  );
});

const SDK = library(`export function createClient({ auth, integrationName }) {
    if (auth !== "op-account") throw new Error("invalid token " + auth);
    return Promise.resolve({
      secrets: { resolve: (name) => Promise.resolve([integrationName, name].join(" ")) },
    });
  }`);

Deno.test("openElsewhere() reads 1Password with a service account where there is no Connect server", async () => {
  const name = "op://v/i/f";
  const parts = context({ OP_SERVICE_ACCOUNT_TOKEN: "op-account" }, SDK);
  assert.deepEqual([...await openElsewhere([name], parts)], [[name, `Quartermaster ${name}`]]);
  assert.deepEqual(parts.learned, ["op-account"]);
  const wrong = context({ OP_SERVICE_ACCOUNT_TOKEN: "wrong-token" }, SDK);
  assert.equal(
    await problemOf(openElsewhere([name], wrong)),
    "the secret op://v/i/f: invalid token ***: check the reference, and OP_SERVICE_ACCOUNT_TOKEN",
  );
  assert.match(
    await problemOf(openElsewhere([name], context({}))),
    /no access to 1Password: set OP_SERVICE_ACCOUNT_TOKEN, or OP_CONNECT_HOST and OP_CONNECT_TOKEN/,
  );
});

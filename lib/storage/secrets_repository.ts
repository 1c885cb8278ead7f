import { createHash } from "node:crypto";
import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { SecretName } from "../core/secret_reference.ts";
import { collection } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Stored } from "./records.ts";
import { sealedBy, SealedRepository } from "./sealing.ts";
import type { Store } from "./store.ts";

const MOST_BYTES = 32 * 1024;
const MOST_SECRETS = 1_000;

const StoredSecret = z.strictObject({
  name: SecretName,
  sealed: z.string(),
  setAt: z.number(),
});

const StoredSecrets = collection({
  noun: "secret",
  key: keys.secrets,
  schema: StoredSecret,
  idOf: ({ name }) => name,
});

export interface SecretOutline {
  name: string;
  setAt: number;
  /** Another one each time it is set. */
  versionstamp: string;
  /** Tells which key it was sealed with. */
  keyId: string | undefined;
}

/** What entries refer to by `${secret:NAME}`; values are sealed before they are written. */
export class SecretsRepository extends SealedRepository {
  readonly #records = new StoredSecrets(this.store);

  /** All secrets, none of them opened, in the order of their names. */
  async outlines(): Promise<SecretOutline[]> {
    return await Array.fromAsync(
      this.#records.list(),
      ({ value: { name, sealed, setAt }, versionstamp }) => ({
        name,
        setAt,
        versionstamp,
        keyId: sealedBy(sealed),
      }),
    );
  }

  async set(name: string, value: string, now = Date.now()): Promise<void> {
    checkSecret(name, value);
    const known = await this.#records.values({ limit: MOST_SECRETS });
    if (known.length >= MOST_SECRETS && !known.some((secret) => secret.name === name)) {
      throw new GatewayError("LIMIT_EXCEEDED", {
        message: `Cannot set the secret: the limit of ${MOST_SECRETS} secrets is reached`,
        recoveryAction: "Delete secrets that no server uses",
      });
    }
    const sealed = await this.seal(value, purposeOf(name));
    await this.#records.replace({ name, sealed, setAt: now });
  }

  /** The value itself; undefined if there is none. Throws if it cannot be opened here. */
  async open(name: string): Promise<Stored<string> | undefined> {
    const found = await this.#records.find(name);
    if (found === undefined) return undefined;
    const value = await this.unseal(found.value.sealed, purposeOf(name));
    return { value, versionstamp: found.versionstamp };
  }

  async delete(name: string): Promise<boolean> {
    if (await this.#records.find(name) === undefined) return false;
    await this.#records.delete(name);
    return true;
  }
}

/** Throws if a secret cannot be called this or have this value; the value is in no message. */
export function checkSecret(name: string, value: string): void {
  const parsed = SecretName.safeParse(name);
  if (!parsed.success) {
    throw invalid(
      `Cannot set the secret: ${parsed.error.issues[0]?.message}`,
      "Choose another name",
    );
  }
  if (value === "") {
    throw invalid(`Cannot set the secret ${name}: the value is empty`, "Enter a value");
  }
  if (value.includes("\0")) {
    throw invalid(
      `Cannot set the secret ${name}: the value contains a null byte`,
      "Encode it as text",
    );
  }
  const bytes = new TextEncoder().encode(value).length;
  if (bytes > MOST_BYTES) {
    throw invalid(
      `Cannot set the secret ${name}: it has ${bytes} bytes, and the limit is ${MOST_BYTES}`,
      "Store it in a file that the server reads",
    );
  }
}

function purposeOf(name: string): string {
  return `secret/${name}`;
}

function invalid(message: string, recoveryAction: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", { message, recoveryAction });
}

const Secret = z.strictObject({ secret: z.string().regex(/^[0-9a-f]{64}$/) });

/** The secret that all gateways on a store sign with; made by the first that needs it. */
export async function signingSecret(store: Store): Promise<Uint8Array> {
  const key = keys.signingSecret();
  for (let attempt = 0; attempt < 10; attempt++) {
    const found = Secret.safeParse((await store.read(key))?.value);
    if (found.success) return Uint8Array.fromHex(found.data.secret);
    const value = { secret: crypto.getRandomValues(new Uint8Array(32)).toHex() };
    await store.tryCommit({
      checks: [{ key, versionstamp: null }],
      sets: [{ key, value }],
      announce: false,
    });
  }
  throw new Error("Cannot store the signing secret");
}

/** Identifies the gateways on a store, as long as the store exists. */
export async function gatewayIdOf(store: Store): Promise<string> {
  const secret = await signingSecret(store);
  return createHash("sha256").update("gateway id").update(secret).digest("hex").slice(0, 16);
}

import { Buffer } from "node:buffer";
import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { secretsOf } from "../config/secrets.ts";
import { isReference } from "../core/secret_reference.ts";
import type { ServerSpec } from "../core/server.ts";
import { Repository } from "./collection.ts";
import type { Store } from "./store.ts";

/** Seals what must not be readable where it is kept. */
export interface SecretBox {
  /** With a purpose, what is sealed can be opened for that purpose alone. */
  seal(text: string, purpose?: string): Promise<string>;
  open(sealed: string, purpose?: string): Promise<string>;
}

/** Version, the key's id, then nonce and ciphertext. */
const SEALED = /^qm1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{38,})$/;
const NONCE_BYTES = 12;
const KEY_BYTES = 32;

/** Tells which key a text was sealed with, and nothing of the key. */
export function sealedBy(text: string): string | undefined {
  return SEALED.exec(text)?.[1];
}

/** AES-256-GCM with one key, which has a short id so that another key is known as such. */
export class AesBox implements SecretBox {
  readonly keyId: string;
  readonly #key: CryptoKey;

  private constructor(keyId: string, key: CryptoKey) {
    this.keyId = keyId;
    this.#key = key;
  }

  static async of(key: Uint8Array<ArrayBuffer>): Promise<AesBox> {
    if (key.length !== KEY_BYTES) throw new RangeError(`A key must have ${KEY_BYTES} bytes`);
    const uses: KeyUsage[] = ["encrypt", "decrypt"];
    const imported = await crypto.subtle.importKey("raw", key, "AES-GCM", false, uses);
    return new AesBox(await keyIdOf(key), imported);
  }

  async seal(text: string, purpose = ""): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const sealed = await crypto.subtle.encrypt(
      { name: "AES-GCM", iv, additionalData: bytesOf(purpose) },
      this.#key,
      bytesOf(text),
    );
    const whole = Buffer.concat([iv, new Uint8Array(sealed)]);
    return `qm1.${this.keyId}.${whole.toString("base64url")}`;
  }

  async open(sealed: string, purpose = ""): Promise<string> {
    const [, keyId, body] = SEALED.exec(sealed) ?? [];
    if (keyId === undefined || body === undefined) {
      throw unreadable("this version does not support its format");
    }
    if (keyId !== this.keyId) {
      throw unreadable(`it was encrypted with key ${keyId}, but the current key is ${this.keyId}`);
    }
    try {
      const whole = Uint8Array.fromBase64(body, { alphabet: "base64url" });
      const iv = whole.subarray(0, NONCE_BYTES);
      const opened = await crypto.subtle.decrypt(
        { name: "AES-GCM", iv, additionalData: bytesOf(purpose) },
        this.#key,
        whole.subarray(NONCE_BYTES),
      );
      return new TextDecoder("utf-8", { fatal: true }).decode(opened);
    } catch (cause) {
      throw unreadable("it was modified, or copied from another record", cause);
    }
  }
}

/** What a key is called; 32 bits of a hash say nothing of a random key. */
export async function keyIdOf(key: Uint8Array<ArrayBuffer>): Promise<string> {
  const named = Buffer.concat([bytesOf("quartermaster key id\0"), key]);
  const hash = await crypto.subtle.digest("SHA-256", named);
  return new Uint8Array(hash, 0, 4).toHex();
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function unreadable(why: string, cause?: unknown): GatewayError {
  return new GatewayError("SECRET_UNREADABLE", {
    message: `Cannot decrypt a stored value: ${why}`,
    cause,
  });
}

/** Asked for when there is something to seal or to open: its key may have to be read from a file. */
export type BoxSource = () => Promise<SecretBox>;

export class SealedRepository extends Repository {
  protected readonly box: BoxSource;

  constructor(store: Store, box: BoxSource) {
    super(store);
    this.box = box;
  }

  /** The purpose binds it to its place: a record that is moved elsewhere does not open there. */
  protected async seal(text: string, purpose: string): Promise<string> {
    return await (await this.box()).seal(text, purpose);
  }

  protected async unseal(sealed: string, purpose: string): Promise<string> {
    return await (await this.box()).open(sealed, purpose);
  }
}

/** The mark keeps a gateway that cannot open an entry from taking sealed texts for values. */
export const sealedMark = { sealed: z.literal(true).optional() };

interface NamedSpec {
  name: string;
  spec: ServerSpec;
}

export function isPlain(spec: ServerSpec): boolean {
  return secretPlaces(spec).size > 0;
}

/**
 * An entry as it is stored: values of headers and variables sealed, and arguments and addresses that
 * hold a secret. References to secrets stay readable. What is sealed already, because it could not
 * be opened here, stays as it is.
 */
export async function sealEntry<T extends NamedSpec>(entry: T, box: BoxSource) {
  const secret = secretPlaces(entry.spec);
  const opened = secret.size === 0 ? undefined : await box();
  const spec = await mapSpec(entry.spec, async (text, place) => {
    if (opened === undefined || !secret.has(place)) return text;
    const sealed = await opened.seal(text, `server/${entry.name}/${place}`);
    // Behind its origin, so that it is still a URL.
    return place === "url" ? `${new URL(text).origin}/#${sealed}` : sealed;
  });
  return { ...entry, spec, ...(hasSealed(spec) ? { sealed: true as const } : {}) };
}

/** An entry as it is used; one that cannot be opened comes as it is stored, with the reason. */
export async function openEntry<T extends NamedSpec & { sealed?: true | undefined }>(
  { sealed: _, ...entry }: T,
  box: BoxSource,
): Promise<{ entry: Omit<T, "sealed"> & { spec: ServerSpec }; problem?: string }> {
  const { name, spec } = entry;
  if (!hasSealed(spec)) return { entry };
  try {
    const opened = await box();
    const plain = await mapSpec(spec, (text, place) => {
      const sealed = sealedIn(text, place);
      return sealed === undefined ? text : opened.open(sealed, `server/${name}/${place}`);
    });
    return { entry: { ...entry, spec: plain } };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const why = error.message.slice(0, 1).toLowerCase() + error.message.slice(1);
    return { entry, problem: `its stored entry is unreadable: ${why}` };
  }
}

function hasSealed(spec: ServerSpec): boolean {
  return placesOf(spec).some(([place, text]) => sealedIn(text, place) !== undefined);
}

/** Every text of an entry that may be secret, with its place. */
function placesOf(spec: ServerSpec): [place: string, text: string][] {
  if (spec.type === "demo") return [];
  const under = (root: string, texts: Record<string, string> | string[]) =>
    Object.entries(texts).map(([key, text]): [string, string] => [`${root}/${key}`, text]);
  return spec.type === "stdio"
    ? [...under("args", spec.args), ...under("env", spec.env)]
    : [["url", spec.url], ...under("headers", spec.headers)];
}

async function mapSpec(
  spec: ServerSpec,
  change: (text: string, place: string) => string | Promise<string>,
): Promise<ServerSpec> {
  const changed = new Map(
    await Promise.all(
      placesOf(spec).map(async ([place, text]) => [place, await change(text, place)] as const),
    ),
  );
  const at = (place: string, text: string) => changed.get(place) ?? text;
  const mapValues = (root: string, values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([key, it]) => [key, at(`${root}/${key}`, it)]));
  if (spec.type === "demo") return spec;
  if (spec.type !== "stdio") {
    return { ...spec, url: at("url", spec.url), headers: mapValues("headers", spec.headers) };
  }
  const args = spec.args.map((arg, index) => at(`args/${index}`, arg));
  return { ...spec, args, env: mapValues("env", spec.env) };
}

/** All values, and the arguments and the address if something in them looks like a secret. */
function secretPlaces(spec: ServerSpec): Set<string> {
  if (spec.type === "demo") return new Set();
  const bare: ServerSpec = spec.type === "stdio" ? { ...spec, env: {} } : { ...spec, headers: {} };
  const secrets = secretsOf(bare, []);
  const isSecret = (text: string, place: string) =>
    /^(env|headers)\//.test(place)
      ? text !== "" && !isReference(text)
      : secrets.some((secret) => text.includes(secret));
  const found = placesOf(spec).filter(([place, text]) =>
    !SEALED.test(text) && sealedIn(text, place) === undefined && isSecret(text, place)
  );
  return new Set(found.map(([place]) => place));
}

/** The sealed text at a place; a sealed address stands behind its origin. */
function sealedIn(text: string, place: string): string | undefined {
  const sealed = place === "url" ? /^https?:\/\/[^/#?@]+\/#(qm1\..+)$/.exec(text)?.[1] : text;
  return sealed !== undefined && SEALED.test(sealed) ? sealed : undefined;
}

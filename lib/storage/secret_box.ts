import { GatewayError } from "../core/errors.ts";

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

export function isSealed(text: string): boolean {
  return SEALED.test(text);
}

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
    if (key.length !== KEY_BYTES) throw new RangeError(`A key has ${KEY_BYTES} bytes`);
    const imported = await crypto.subtle.importKey("raw", key, "AES-GCM", false, [
      "encrypt",
      "decrypt",
    ]);
    return new AesBox(await keyIdOf(key), imported);
  }

  async seal(text: string, purpose = ""): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const sealed = await crypto.subtle.encrypt(
      { name: "AES-GCM", iv, additionalData: bytesOf(purpose) },
      this.#key,
      bytesOf(text),
    );
    const whole = new Uint8Array(NONCE_BYTES + sealed.byteLength);
    whole.set(iv);
    whole.set(new Uint8Array(sealed), NONCE_BYTES);
    const body = whole.toBase64({ alphabet: "base64url", omitPadding: true });
    return `qm1.${this.keyId}.${body}`;
  }

  async open(sealed: string, purpose = ""): Promise<string> {
    const [, keyId, body] = SEALED.exec(sealed) ?? [];
    if (keyId === undefined || body === undefined) {
      throw unreadable("it is not in a form that this version knows");
    }
    if (keyId !== this.keyId) {
      throw unreadable(`it was sealed with the key ${keyId}, and the key here is ${this.keyId}`);
    }
    try {
      const whole = Uint8Array.fromBase64(body, { alphabet: "base64url" });
      const opened = await crypto.subtle.decrypt(
        {
          name: "AES-GCM",
          iv: whole.subarray(0, NONCE_BYTES),
          additionalData: bytesOf(purpose),
        },
        this.#key,
        whole.subarray(NONCE_BYTES),
      );
      return new TextDecoder("utf-8", { fatal: true }).decode(opened);
    } catch (cause) {
      throw unreadable("it was changed, or belongs to another place", cause);
    }
  }
}

/** What a key is called; 32 bits of a hash say nothing of a random key. */
export async function keyIdOf(key: Uint8Array<ArrayBuffer>): Promise<string> {
  const label = bytesOf("quartermaster key id\0");
  const named = new Uint8Array(label.length + key.length);
  named.set(label);
  named.set(key, label.length);
  const hash = await crypto.subtle.digest("SHA-256", named);
  return new Uint8Array(hash, 0, 4).toHex();
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function unreadable(why: string, cause?: unknown): GatewayError {
  return new GatewayError("SECRET_UNREADABLE", {
    message: `Cannot open what was sealed: ${why}`,
    cause,
  });
}

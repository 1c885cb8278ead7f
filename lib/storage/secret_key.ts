import { dirname, join } from "node:path";
import { GatewayError } from "../core/errors.ts";
import { writeBytes } from "./data_file.ts";
import type { Location } from "./kv_client.ts";
import { AesBox, keyIdOf } from "./sealing.ts";

const KEY_BYTES = 32;
const FILE = "secret.key";
/** Longer than any form of a key with what an editor adds to it. */
const MOST_BYTES = 256;

interface SecretKeyOptions {
  /** As the option has it: 32 bytes in hex or base64. */
  secretKey: string | undefined;
  /** Where the key's file is; undefined if nothing written would stay. */
  dataDir: string | undefined;
  location: Pick<Location, "kind">;
}

/** Opens the box with the key from the options, else from its file, which is made at first use. */
export async function openSecretBox(options: SecretKeyOptions): Promise<AesBox> {
  const { secretKey, dataDir, location } = options;
  if (secretKey !== undefined) return await AesBox.of(readSecretKey(secretKey));
  // The store is gone with the process, and so may be what it was sealed with.
  if (location.kind === "memory") return await AesBox.of(randomKey());
  if (dataDir === undefined) throw noKey();
  return await AesBox.of(await keepKeyFile(join(dataDir, FILE)));
}

/** The id of the key that is here; undefined if there is none yet. Makes nothing. */
export async function findKeyId(
  { secretKey, dataDir }: Omit<SecretKeyOptions, "location">,
): Promise<string | undefined> {
  if (secretKey !== undefined) return await keyIdOf(readSecretKey(secretKey));
  if (dataDir === undefined) return undefined;
  const key = await findKeyFile(join(dataDir, FILE));
  return key && await keyIdOf(key);
}

/** The bytes of a key in hex or base64, of either alphabet. */
export function readSecretKey(text: string): Uint8Array<ArrayBuffer> {
  const trimmed = text.trim();
  try {
    if (/^[0-9a-fA-F]{64}$/.test(trimmed)) return Uint8Array.fromHex(trimmed);
    const key = Uint8Array.fromBase64(trimmed.replaceAll("-", "+").replaceAll("_", "/"));
    if (key.length === KEY_BYTES) return key;
  } catch {
    // Reported below.
  }
  throw new GatewayError("CONFIG_INVALID", {
    message: "Cannot use the secret key: it must be 32 bytes in base64 or hex",
    recoveryAction: "Create one with `openssl rand -base64 32`",
  });
}

/** Reads the key's file, or makes it once, whoever else is about to. */
async function keepKeyFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const found = await findKeyFile(path);
  if (found) return found;
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeKey(temporary);
    // Fails if another process was first: there is one key, and it is whole from the beginning.
    await Deno.link(temporary, path).catch(async (error) => {
      if (error instanceof Deno.errors.AlreadyExists) return;
      // Not every file system has links.
      await writeKey(path).catch((second) => {
        if (!(second instanceof Deno.errors.AlreadyExists)) throw second;
      });
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unusable(
      path,
      `it cannot be created (${why})`,
      "Set --secret-key, or choose another --data-dir",
    );
  } finally {
    await Deno.remove(temporary).catch(() => {});
  }
  const made = await findKeyFile(path);
  if (made) return made;
  throw unusable(path, "it disappeared after it was created", "Try again");
}

async function writeKey(path: string): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  await writeBytes(file, new TextEncoder().encode(`${randomKey().toHex()}\n`));
  await file.sync();
}

async function findKeyFile(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let text: string;
  try {
    const { mode, size, isFile } = await Deno.stat(path);
    if (!isFile || size > MOST_BYTES) throw notAKey(path);
    // Null on Windows, where the folder's rights count.
    if (mode !== null && (mode & 0o077) !== 0) {
      throw unusable(path, "users other than its owner can read it", `Run: chmod 600 "${path}"`);
    }
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof GatewayError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw unusable(path, `it cannot be read (${why})`, "Give its owner read permission");
  }
  try {
    return readSecretKey(text);
  } catch {
    throw notAKey(path);
  }
}

function randomKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES));
}

function notAKey(path: string): GatewayError {
  return unusable(
    path,
    "it does not contain a key of 32 bytes in base64 or hex",
    "Put the original key back, or move the file away and set all secrets again",
  );
}

function unusable(path: string, why: string, step: string): GatewayError {
  return new GatewayError("SECRET_UNREADABLE", {
    message: `Cannot use the key file "${path}": ${why}`,
    recoveryAction: step,
  });
}

function noKey(): GatewayError {
  return new GatewayError("NOT_AVAILABLE_HERE", {
    message: "Cannot store secrets: there is no key to encrypt them",
    recoveryAction: "Set QUARTERMASTER_SECRET_KEY to 32 random bytes in base64 or hex",
    recoverySteps: [
      "Create a key with `openssl rand -base64 32`",
      "Set QUARTERMASTER_SECRET_KEY to that key, and restart the gateway",
    ],
  });
}

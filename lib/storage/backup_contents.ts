import { keys } from "./keys.ts";
import { sealedBy } from "./sealing.ts";
import { type BackupHeader, readBackup, verifyBackup } from "./backup.ts";
import { refuseNewerBackup } from "./restore.ts";

/** What a backup holds, as far as a person has to know before it replaces a store. */
export interface BackupContents extends Pick<BackupHeader, "createdAt" | "schemaVersion"> {
  entries: number;
  /** How many records there are of each family of keys. */
  counts: Record<string, number>;
  /** What is sealed in it, by the key that opens it. */
  sealed: SealedNames[];
}

/** Reads a backup to its end. Throws where it is broken, foreign or newer than this program. */
export async function backupContents(file: string): Promise<BackupContents> {
  const { header: { createdAt, schemaVersion }, entries } = await verifyBackup(file);
  refuseNewerBackup(file, schemaVersion);
  const counts: Record<string, number> = {};
  const sealed = new SealedGatherer();
  for await (const { key, value } of readBackup(file)) {
    const [root = ""] = key;
    counts[root] = (counts[root] ?? 0) + 1;
    sealed.take(key, value);
  }
  return { createdAt, schemaVersion, entries, counts, sealed: sealed.all };
}

/** What only one key opens, by name. */
export interface SealedNames {
  keyId: string;
  secrets: string[];
  /** Servers with values of their own in their entries. */
  servers: string[];
  /** Servers that somebody has logged in to. */
  logins: string[];
}

type Family = Exclude<keyof SealedNames, "keyId">;

const FAMILIES: ReadonlyMap<unknown, Family> = new Map<unknown, Family>([
  [keys.secrets()[0], "secrets"],
  [keys.servers()[0], "servers"],
  [keys.logins()[0], "logins"],
]);

/** Gathers from records what was sealed, and with which keys; opens nothing. */
export class SealedGatherer {
  readonly #byKey = new Map<string, SealedNames>();

  take(key: readonly (string | number)[], value: unknown): void {
    const family = FAMILIES.get(key[0]);
    const name = key[1];
    if (family === undefined || typeof name !== "string") return;
    for (const keyId of new Set(textsIn(value).flatMap(sealedIn))) {
      let names = this.#byKey.get(keyId);
      if (names === undefined) {
        names = { keyId, secrets: [], servers: [], logins: [] };
        this.#byKey.set(keyId, names);
      }
      names[family].push(name);
    }
  }

  get all(): SealedNames[] {
    return [...this.#byKey.values()];
  }
}

/** What cannot be opened with a key, in sentences that say what to do. */
export function otherKeyWarnings(
  sealed: readonly SealedNames[],
  keyId: string | undefined,
): string[] {
  const foreign = sealed.filter((names) => names.keyId !== keyId);
  const all = (family: Family) => [...new Set(foreign.flatMap((names) => names[family]))].sort();
  const [secrets, servers, logins] = [all("secrets"), all("servers"), all("logins")];
  return [
    ...(secrets.length === 0 ? [] : [
      `Sealed with another key, so that they must be set again: the secrets ${secrets.join(", ")}`,
    ]),
    ...(servers.length === 0 ? [] : [
      "Sealed with another key, so that their headers and variables must be given again: " +
      `the servers ${servers.join(", ")}`,
    ]),
    ...(logins.length === 0
      ? []
      : [`Sealed with another key, so that they need a login again: ${logins.join(", ")}`]),
    ...(foreign.length === 0 ? [] : [
      "Or bring the key along: secret.key of the other data folder, or QUARTERMASTER_SECRET_KEY " +
      `(its id is ${foreign.map((names) => names.keyId).join(" or ")})`,
    ]),
  ];
}

/** Also behind the origin of an address. */
function sealedIn(text: string): string[] {
  const keyId = sealedBy(text.slice(text.indexOf("#qm1.") + 1));
  return keyId === undefined ? [] : [keyId];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

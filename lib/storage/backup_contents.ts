import { keys } from "./keys.ts";
import { sealedBy } from "./sealing.ts";
import { type BackupHeader, readBackup, verifyBackup } from "./backup.ts";

/** What a backup holds, as far as a person has to know before it replaces a store. */
export interface BackupContents extends Pick<BackupHeader, "createdAt" | "schemaVersion"> {
  entries: number;
  counts: Record<string, number>;
  /** What is sealed in it, by the key that opens it. */
  sealed: SealedNames[];
}

/** Reads a backup to its end. Throws if it is broken, foreign or newer than this program. */
export async function backupContents(file: string): Promise<BackupContents> {
  const { header: { createdAt, schemaVersion }, entries } = await verifyBackup(file);
  const counts: Record<string, number> = {};
  const sealed: SealedNames[] = [];
  for await (const { key, value } of readBackup(file)) {
    const [root = ""] = key;
    counts[root] = (counts[root] ?? 0) + 1;
    gatherSealed(sealed, key, value);
  }
  return { createdAt, schemaVersion, entries, counts, sealed };
}

export interface SealedNames {
  keyId: string;
  secrets: string[];
  servers: string[];
  logins: string[];
}

type Family = Exclude<keyof SealedNames, "keyId">;

const FAMILIES: ReadonlyMap<unknown, Family> = new Map<unknown, Family>([
  [keys.secrets()[0], "secrets"],
  [keys.servers()[0], "servers"],
  [keys.logins()[0], "logins"],
]);

/** Adds what is sealed in a record, and with which keys; opens nothing. */
export function gatherSealed(
  found: SealedNames[],
  [root, name]: readonly (string | number)[],
  value: unknown,
): void {
  const family = FAMILIES.get(root);
  if (family === undefined || typeof name !== "string") return;
  for (const keyId of new Set(textsIn(value).flatMap(sealedIn))) {
    let names = found.find((each) => each.keyId === keyId);
    if (!names) found.push(names = { keyId, secrets: [], servers: [], logins: [] });
    names[family].push(name);
  }
}

/** One warning for each kind of record that a key cannot decrypt, with what to do. */
export function otherKeyWarnings(
  sealed: readonly SealedNames[],
  keyId: string | undefined,
): string[] {
  const foreign = sealed.filter((names) => names.keyId !== keyId);
  const all = (family: Family) => [...new Set(foreign.flatMap((names) => names[family]))].sort();
  const again = (family: Family, what: string) =>
    all(family).length === 0
      ? []
      : [`Encrypted with another key: ${what}${all(family).join(", ")}`];
  return [
    ...again("secrets", "set these secrets again: "),
    ...again("servers", "enter the headers and variables of these servers again: "),
    ...again("logins", "log in to these servers again: "),
    ...(foreign.length === 0 ? [] : [
      "Or use the original key: secret.key from the other data folder, or QUARTERMASTER_SECRET_KEY " +
      `(key ID ${foreign.map((names) => names.keyId).join(" or ")})`,
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

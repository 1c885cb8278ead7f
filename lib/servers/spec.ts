import { secretsOf } from "../config/secrets.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { isReference } from "../core/secret_reference.ts";
import {
  isolationOf,
  isProgram,
  isRemote,
  mapSpecTexts,
  ownerFields,
  type ProgramSpec,
  type ServerSpec,
  type SpecText,
  specTexts,
} from "../core/server.ts";
import type { ConsentSpec } from "../storage/consents_repository.ts";

export const MASK = "***";

/**
 * An entry as it may be shown: all headers and variables masked, and secrets in other places. What
 * only refers to a secret tells nothing of it, and says what to set where the server fails.
 */
export function maskSpec(spec: ServerSpec): ServerSpec {
  const mask = textMasker(spec);
  return mapSpecTexts(spec, (found) => {
    if (!isValue(found)) return mask(found.text);
    return isReference(found.text) ? found.text : MASK;
  });
}

/** Takes an entry's secrets out of what its server or its connection said. */
export function textMasker(spec: ServerSpec): (text: string) => string {
  const secrets = secretsOf(spec, []).sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, MASK), text);
}

/**
 * An entry that was read masked, changed and sent back: what is still masked gets its stored value.
 * Only towards the place it went to before: otherwise anyone who may change an entry could read its
 * secrets.
 */
export function unmaskSpec(wanted: ServerSpec, stored: ServerSpec): ServerSpec {
  const shown = maskSpec(stored);
  if (isProgram(wanted)) {
    const known = isProgram(stored) && isSamePlace(wanted, shown) ? stored : undefined;
    if (!known && wanted.args.some((arg) => arg.includes(MASK))) throw stillMasked("argument");
    const args = known?.args ?? wanted.args;
    return unmaskValues({ ...wanted, args }, known);
  }
  if (!isRemote(wanted)) return wanted;
  const isUnchanged = isRemote(stored) && isRemote(shown) && shown.url === wanted.url;
  const url = isUnchanged ? stored.url : wanted.url;
  if (url === wanted.url && url.includes(MASK)) throw stillMasked("address");
  const unmasked = { ...wanted, url };
  return unmaskValues(unmasked, isSamePlace(unmasked, stored) ? stored : undefined);
}

/**
 * A change with the values that it leaves as they are shown masked, references too: a caller who may
 * not name a secret
 * can still change the rest of an entry that does. Not where it would go to another place.
 */
export function withoutKeptReferences(wanted: ServerSpec, shown: ServerSpec): ServerSpec {
  if (!isSamePlace(wanted, shown)) return wanted;
  const texts = textsByPath(shown);
  return mapSpecTexts(
    wanted,
    (found) => isValue(found) && texts.get(found.path) === found.text ? MASK : found.text,
  );
}

/** Whether what an entry's server is given goes to where it went before: the same program or host. */
export function isSamePlace(spec: ServerSpec, before: ServerSpec): boolean {
  if (isProgram(spec)) return isProgram(before) && argvText(spec) === argvText(before);
  return isRemote(spec) && isRemote(before) &&
    new URL(spec.url).origin === new URL(before.url).origin;
}

/** Whether a text is a header or a variable, which are always masked. */
function isValue({ kind }: SpecText): boolean {
  return kind === "header" || kind === "variable";
}

function textsByPath(spec: ServerSpec | undefined): Map<string, string> {
  return new Map(spec && specTexts(spec).map(({ path, text }) => [path, text]));
}

function argvText({ command, args, cwd }: ProgramSpec): string {
  return JSON.stringify([command, args, cwd]);
}

function unmaskValues(spec: ServerSpec, stored: ServerSpec | undefined): ServerSpec {
  const texts = textsByPath(stored);
  return mapSpecTexts(spec, (found) => {
    const { path, text } = found;
    if (!isValue(found) || text !== MASK) return text;
    const value = texts.get(path);
    if (value === undefined) throw stillMasked(path.slice(path.indexOf("/") + 1));
    return value;
  });
}

function stillMasked(what: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `The value of ${what} is masked, and no stored value belongs there`,
    recoverySteps: [`Enter the value of ${what}`],
  });
}

/** Both sides as they may be shown; says so where only what is masked differs. */
export function maskedChange(before: ServerSpec, after: ServerSpec): [ServerSpec, object] {
  const [was, is] = [maskSpec(before), maskSpec(after)];
  const isHidden = JSON.stringify(was) === JSON.stringify(is) &&
    JSON.stringify(before) !== JSON.stringify(after);
  return [was, isHidden ? { ...is, hiddenValues: "changed" } : is];
}

/** What stays if a change does not mention it, however the server is reached. */
export const KEPT_FIELDS = Object.keys(ownerFields) as (keyof typeof ownerFields)[];

/** Keeps the fields that a change omits: limits, trust, isolation, and whether it is off, lazy or pinned. */
export function withKeptFields(wanted: ServerSpec, stored: ServerSpec): ServerSpec {
  const common = Object.fromEntries(
    KEPT_FIELDS.flatMap((key) => stored[key] === undefined ? [] : [[key, stored[key]]]),
  );
  if (!isProgram(wanted)) return { ...common, ...wanted };
  const { lazy, pin, isolation }: Partial<ProgramSpec> = isProgram(stored) ? stored : {};
  return { ...common, ...defined({ lazy, pin, isolation }), ...wanted };
}

/** Whether two entries differ in nothing but what was decided about the server, or that it is off. */
export function isSameServer(spec: ServerSpec, stored: ServerSpec): boolean {
  const decided = new Set<string>(KEPT_FIELDS);
  if (!spec.disabled) decided.delete("disabled");
  const [is, was] = [spec, stored].map((entry) =>
    JSON.stringify(
      // A switch that is off is as good as none.
      Object.entries(entry).filter(([key, value]) =>
        value !== undefined && value !== false && !decided.has(key)
      ).sort(),
    )
  );
  return is === was;
}

export function runsTheSame(spec: ProgramSpec, stored: ServerSpec | undefined): boolean {
  return stored !== undefined && isProgram(stored) &&
    JSON.stringify(programIdentity(spec)) === JSON.stringify(programIdentity(stored));
}

export function programSpec(spec: ProgramSpec): ProgramSpec {
  const { type, command, args, env, cwd } = spec;
  // Removing the isolation must be explicit, because omitted fields are kept.
  const isolation = "isolation" in spec ? spec.isolation ?? { kind: "none" as const } : undefined;
  return { type, command, args, env, ...defined({ cwd, isolation }) };
}

/** An entry without limits, trust and other decisions about the server. */
export function addressOrProgram(spec: ConsentSpec): ConsentSpec {
  if (isProgram(spec)) return programSpec(spec);
  const { type, url, headers } = spec;
  return { type, url, headers };
}

/** What decides what is run, and what it can reach. */
export function programIdentity(spec: ProgramSpec) {
  const { command, args, env, cwd } = spec;
  const variables = Object.entries(env).sort(([a], [b]) => a < b ? -1 : 1);
  const isolation = isolationOf(spec);
  return [command, args, variables, cwd ?? null, ...(isolation ? [isolation] : [])];
}

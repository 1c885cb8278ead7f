import { secretsOf } from "../config/secrets.ts";
import { GatewayError } from "../core/errors.ts";
import { isReference } from "../core/secret_reference.ts";
import type { ServerSpec } from "../core/server.ts";

/** Stands for a value that is not shown. */
export const MASK = "***";

/**
 * An entry as it may be shown: all headers and variables masked, and secrets in other places. What
 * only refers to a secret tells nothing of it, and says what to set where the server fails.
 */
export function maskSpec(spec: ServerSpec): ServerSpec {
  const mask = textMasker(spec);
  switch (spec.type) {
    case "demo":
      return spec;
    case "stdio":
      return {
        ...spec,
        args: spec.args.map(mask),
        env: maskValues(spec.env),
      };
    default:
      return { ...spec, url: mask(spec.url), headers: maskValues(spec.headers) };
  }
}

/** Takes an entry's secrets out of what its server or its connection said. */
export function textMasker(spec: ServerSpec): (text: string) => string {
  const secrets = secretsOf(spec, []).sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, MASK), text);
}

/**
 * An entry that was read masked, changed and sent back: what is still masked gets its stored value.
 * Only towards the place it went to before, or whoever may change an entry could read its secrets.
 */
export function unmaskSpec(wanted: ServerSpec, stored: ServerSpec): ServerSpec {
  const shown = maskSpec(stored);
  if (wanted.type === "demo") return wanted;
  if (wanted.type === "stdio") {
    const known = stored.type === "stdio" && isSamePlace(wanted, shown) ? stored : undefined;
    if (!known && wanted.args.some((arg) => arg.includes(MASK))) throw stillMasked("argument");
    const args = known?.args ?? wanted.args;
    return { ...wanted, args, env: unmaskValues(wanted.env, known?.env ?? {}) };
  }
  const isUnchanged = "url" in stored && "url" in shown && shown.url === wanted.url;
  const url = isUnchanged ? stored.url : wanted.url;
  if (url === wanted.url && url.includes(MASK)) throw stillMasked("address");
  const kept = "url" in stored && isSamePlace({ ...wanted, url }, stored) ? stored.headers : {};
  return { ...wanted, url, headers: unmaskValues(wanted.headers, kept) };
}

/**
 * A change with what it leaves as it is shown masked, references too: whoever may not name a secret
 * can still change the rest of an entry that does. Not where it would go to another place.
 */
export function withoutKeptReferences(wanted: ServerSpec, shown: ServerSpec): ServerSpec {
  if (!isSamePlace(wanted, shown)) return wanted;
  if (wanted.type === "stdio" && shown.type === "stdio") {
    return { ...wanted, env: maskSame(wanted.env, shown.env) };
  }
  if (!("url" in wanted) || !("url" in shown)) return wanted;
  return { ...wanted, headers: maskSame(wanted.headers, shown.headers) };
}

/** Whether what an entry's server is given goes to where it went before: the same program or host. */
export function isSamePlace(spec: ServerSpec, before: ServerSpec): boolean {
  if (spec.type === "stdio") {
    return before.type === "stdio" && argvText(spec) === argvText(before);
  }
  if (!("url" in spec) || !("url" in before)) return false;
  return new URL(spec.url).origin === new URL(before.url).origin;
}

function maskSame(
  values: Record<string, string>,
  shown: Record<string, string>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const isSame = Object.hasOwn(shown, name) && shown[name] === value;
      return [name, isSame ? MASK : value];
    }),
  );
}

function argvText({ command, args, cwd }: Extract<ServerSpec, { type: "stdio" }>): string {
  return JSON.stringify([command, args, cwd]);
}

function maskValues(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isReference(value) ? value : MASK]),
  );
}

function unmaskValues(
  values: Record<string, string>,
  stored: Record<string, string>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (value !== MASK) return [name, value];
      const kept = Object.hasOwn(stored, name) ? stored[name] : undefined;
      if (kept === undefined) throw stillMasked(name);
      return [name, kept];
    }),
  );
}

function stillMasked(what: string): GatewayError {
  return new GatewayError("INVALID_ARGUMENTS", {
    message: `The value of ${what} is masked, and none is kept for where it would go now`,
    recoverySteps: [`Give the value of ${what}`],
  });
}

import * as z from "zod";
import { mapSpecTexts, type ServerSpec, specTexts } from "./server.ts";

const NAME = [/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, {
  error: "A secret name must have 1 to 64 letters, digits or _, and must not begin with a digit",
}] as const;

export const SecretName = z.string().regex(...NAME);
/** As a person types it. */
export const TypedSecretName = z.string().trim().regex(...NAME);

/**
 * What a reference can name, by where the secret is kept: `secret` is the gateway's own store, the
 * others are asked when a server starts. Few characters: people read references in questions for
 * their consent.
 */
const SOURCES = {
  secret: { form: NAME[0], example: "${secret:NAME}" },
  keychain: { form: NAME[0], example: "${keychain:NAME}" },
  // No segment of dots: it would lead out of the path.
  vault: {
    form: /^(?!.*(?:^|\/)\.{1,2}(?:\/|#))[\w.-]+(?:\/[\w.-]+)+#[\w.-]+$/,
    example: "${vault:PATH#KEY}",
  },
  op: {
    form: /^(?:\/\/)?\w[\w .-]*(?:\/\w[\w .-]*){2,3}(?:\?attribute=[a-z-]{1,20})?$/,
    example: "${op://VAULT/ITEM/FIELD}",
  },
} as const;
type SecretSource = keyof typeof SOURCES;

const REFERENCE = /\$\{(secret|keychain|vault|op):([^{}]{1,200})\}/g;

/** `Bearer `: what may stand around a reference and is no secret itself. */
const SCHEME = /^(?:(?:bearer|basic|token|bot|key|api-?key) )?$/i;

/** How a secret is referred to: `NAME` is one of the store, `vault:app/db#password` one of Vault. */
export function secretReference(name: string): string {
  return isStoredSecret(name) ? `\${secret:${name}}` : `\${${name}}`;
}

/** Whether the gateway's own store keeps the secret of that name. */
export function isStoredSecret(name: string): boolean {
  return !name.includes(":");
}

/** The secret that `secret:NAME`, `vault:PATH#KEY`, ... refers to, or how to write it; undefined if it is no such text. */
export function readSecretReference(
  text: string,
): { name: string } | { problem: string; fix: string } | undefined {
  const [, source, body = ""] = /^(secret|keychain|vault|op):(.*)$/s.exec(text) ?? [];
  if (source === undefined) return undefined;
  const name = nameOf(source as SecretSource, body);
  if (name !== undefined) return { name };
  const { example } = SOURCES[source as SecretSource];
  return { problem: `\${${text.slice(0, 60)}} is not a valid reference`, fix: `Write ${example}` };
}

export function secretNamesIn(text: string): string[] {
  return Array.from(
    text.matchAll(REFERENCE),
    ([, source, body = ""]) => nameOf(source as SecretSource, body),
  ).filter((name) => name !== undefined);
}

/** Whether a text is nothing but references, so that it can be read by anybody. */
export function isReference(text: string): boolean {
  return text.includes("${") && secretNamesIn(text).length > 0 &&
    SCHEME.test(fillText(text, () => ""));
}

/** The names of the secrets that an entry refers to, in order. */
export function secretNames(spec: ServerSpec): string[] {
  return [...new Set(specTexts(spec).flatMap(({ text }) => secretNamesIn(text)))].sort();
}

/** An entry with the secrets in place of what refers to them; it is never kept or shown. */
export function fillSecrets(spec: ServerSpec, values: ReadonlyMap<string, string>): ServerSpec {
  return mapSpecTexts(spec, ({ text }) => fillText(text, (name) => values.get(name)));
}

function fillText(text: string, valueOf: (name: string) => string | undefined): string {
  return text.replace(REFERENCE, (whole, source: SecretSource, body: string) => {
    const name = nameOf(source, body);
    return name === undefined ? whole : valueOf(name) ?? whole;
  });
}

function nameOf(source: SecretSource, body: string): string | undefined {
  if (body.length > 200 || !SOURCES[source].form.test(body)) return undefined;
  if (source === "secret") return body;
  return source === "op" ? `op://${body.replace(/^\/\//, "")}` : `${source}:${body}`;
}

import * as z from "zod";
import { mapSpecTexts, type ServerSpec, specTexts } from "./server.ts";

const NAME = [/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, {
  error: "A secret name must have 1 to 64 letters, digits or _, and must not begin with a digit",
}] as const;

export const SecretName = z.string().regex(...NAME);
/** As a person types it. */
export const TypedSecretName = z.string().trim().regex(...NAME);

const REFERENCE = /\$\{secret:([A-Za-z_][A-Za-z0-9_]{0,63})\}/g;

/** `Bearer `: what may stand around a reference and is no secret itself. */
const SCHEME = /^(?:(?:bearer|basic|token|bot|key|api-?key) )?$/i;

export function secretReference(name: string): string {
  return `\${secret:${name}}`;
}

export function secretNamesIn(text: string): string[] {
  return Array.from(text.matchAll(REFERENCE), ([, name = ""]) => name);
}

/** Whether a text is nothing but references, so that it can be read by anybody. */
export function isReference(text: string): boolean {
  return text.includes("${secret:") && secretNamesIn(text).length > 0 &&
    SCHEME.test(text.replace(REFERENCE, ""));
}

/** The names of the secrets that an entry refers to, in order. */
export function secretNames(spec: ServerSpec): string[] {
  return [...new Set(specTexts(spec).flatMap(({ text }) => secretNamesIn(text)))].sort();
}

/** An entry with the secrets in place of what refers to them; it is never kept or shown. */
export function fillSecrets(spec: ServerSpec, values: ReadonlyMap<string, string>): ServerSpec {
  return mapSpecTexts(
    spec,
    ({ text }) => text.replace(REFERENCE, (whole, name: string) => values.get(name) ?? whole),
  );
}

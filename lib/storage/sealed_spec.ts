import { secretsOf } from "../config/secrets.ts";
import { GatewayError } from "../core/errors.ts";
import { isReference } from "../core/secret_reference.ts";
import type { ServerSpec } from "../core/server.ts";
import { isSealed, type SecretBox } from "./secret_box.ts";

/** Asked for when there is something to seal or to open: its key may have to be read from a file. */
export type BoxSource = () => Promise<SecretBox>;

/** Whether anything in an entry is to be sealed before it is kept. */
export function isPlain(spec: ServerSpec): boolean {
  return valuesOf(spec).some(needsSeal) || telling(spec).size > 0;
}

/** Whether anything in an entry is sealed. */
export function hasSealed(spec: ServerSpec): boolean {
  return sealedTexts(spec).length > 0;
}

/**
 * An entry as it is kept: values of headers and variables sealed, and arguments and addresses that
 * hold a secret. What only refers to one stays readable. What is sealed already, because it could not
 * be opened here, stays as it is.
 */
export async function sealSpec(
  name: string,
  spec: ServerSpec,
  box: BoxSource,
): Promise<ServerSpec> {
  if (!isPlain(spec)) return spec;
  const { seal } = placeSealer(name, await box());
  const found = telling(spec);
  return await mapSpec(spec, {
    value: (text, place) => needsSeal(text) ? seal(text, place) : text,
    arg: (text, place) => found.has(text) ? seal(text, place) : text,
    async url(text, place) {
      return found.has(text) ? `${new URL(text).origin}/#${await seal(text, place)}` : text;
    },
  });
}

/** An entry as it is used; where it cannot be opened it comes as it is kept, with the reason. */
export async function openSpec(
  name: string,
  spec: ServerSpec,
  box: BoxSource,
): Promise<{ spec: ServerSpec; problem?: string }> {
  if (!hasSealed(spec)) return { spec };
  try {
    const { open } = placeSealer(name, await box());
    const opened = await mapSpec(spec, {
      value: (text, place) => isSealed(text) ? open(text, place) : text,
      arg: (text, place) => isSealed(text) ? open(text, place) : text,
      url(text, place) {
        const sealed = sealedUrl(text);
        return sealed === undefined ? text : open(sealed, place);
      },
    });
    return { spec: opened };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return {
      spec,
      problem: `what is kept of its entry cannot be opened: ${lowerFirst(error.message)}`,
    };
  }
}

function placeSealer(name: string, box: SecretBox) {
  return {
    seal: (text: string, place: string) => box.seal(text, `server/${name}/${place}`),
    open: (text: string, place: string) => box.open(text, `server/${name}/${place}`),
  };
}

interface Mapping {
  value(text: string, place: string): string | Promise<string>;
  arg(text: string, place: string): string | Promise<string>;
  url(text: string, place: string): string | Promise<string>;
}

async function mapSpec(spec: ServerSpec, mapping: Mapping): Promise<ServerSpec> {
  const mapValues = async (values: Record<string, string>, place: string) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(values).map(async ([key, value]) =>
          [key, await mapping.value(value, `${place}/${key}`)] as const
        ),
      ),
    );
  switch (spec.type) {
    case "demo":
      return spec;
    case "stdio":
      return {
        ...spec,
        args: await Promise.all(spec.args.map((arg, index) => mapping.arg(arg, `args/${index}`))),
        env: await mapValues(spec.env, "env"),
      };
    default:
      return {
        ...spec,
        url: await mapping.url(spec.url, "url"),
        headers: await mapValues(spec.headers, "headers"),
      };
  }
}

function needsSeal(text: string): boolean {
  return text !== "" && !isSealed(text) && !isReference(text);
}

function valuesOf(spec: ServerSpec): string[] {
  if (spec.type === "demo") return [];
  return Object.values(spec.type === "stdio" ? spec.env : spec.headers);
}

/** Arguments and the address, where something in them looks like a secret. */
function telling(spec: ServerSpec): Set<string> {
  if (spec.type === "demo") return new Set();
  const [bare, texts]: [ServerSpec, string[]] = spec.type === "stdio"
    ? [{ ...spec, env: {} }, spec.args]
    : [{ ...spec, headers: {} }, [spec.url]];
  const secrets = secretsOf(bare, []);
  return new Set(
    texts.filter((text) =>
      !isSealed(text) && sealedUrl(text) === undefined &&
      secrets.some((secret) => text.includes(secret))
    ),
  );
}

function sealedTexts(spec: ServerSpec): string[] {
  const texts = spec.type === "stdio"
    ? [...spec.args, ...valuesOf(spec)]
    : spec.type === "demo"
    ? []
    : [sealedUrl(spec.url) ?? "", ...valuesOf(spec)];
  return texts.filter(isSealed);
}

/** A sealed address stands behind its origin, so that it is an address all the same. */
function sealedUrl(url: string): string | undefined {
  const sealed = /^https?:\/\/[^/#?@]+\/#(qm1\..+)$/.exec(url)?.[1];
  return sealed !== undefined && isSealed(sealed) ? sealed : undefined;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

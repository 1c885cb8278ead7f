import { z } from "zod";

// Each takes what a flag or a variable gives (text) and what a settings file gives (JSON).

/** A whole number within limits. */
export function wholeNumber(min: number, max: number): z.ZodType<number> {
  const digits = z.string().trim().regex(/^\d{1,15}$/).transform(Number);
  return z.union([z.number(), digits]).pipe(z.int().min(min).max(max));
}

const SWITCH_WORDS = new Map([
  ...["1", "true", "yes", "on"].map((word) => [word, true] as const),
  ...["0", "false", "no", "off"].map((word) => [word, false] as const),
]);

/** On or off. */
export const Switch: z.ZodType<boolean> = z.union([
  z.boolean(),
  z.string().transform((text, context) => {
    const value = SWITCH_WORDS.get(text.trim().toLowerCase());
    if (value === undefined) context.addIssue({ code: "custom", message: "not a switch" });
    return value ?? z.NEVER;
  }),
]);

/** One of a few words, in any case. */
export function oneOf<const T extends string>(words: readonly T[]): z.ZodType<T> {
  return z.string().trim().toLowerCase().pipe(z.enum(words));
}

/** A path as it was written; resolved by the caller, who knows the base folder. */
export const PathText: z.ZodType<string> = z.string().min(1).refine((path) => !path.includes("\0"));

/** A file, `:memory:`, or the URL of a KV Connect server. */
export const KvLocation: z.ZodType<string> = PathText.refine((value) =>
  !isUrl(value) || URL.canParse(value)
);

/** Whether the text is an http or https URL rather than a path. */
export function isUrl(value: string): boolean {
  return /^https?:\/\//i.test(value);
}

/** An address to listen on: a name or an IP address, IPv6 with or without brackets. */
export const ListenHost: z.ZodType<string> = z.string().trim().transform((text, context) => {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  const asUrl = `http://${bare.includes(":") ? `[${bare}]` : bare}/`;
  const plain = /^[A-Za-z0-9._-]+$/.test(bare) || /^[0-9A-Fa-f:.]+$/.test(bare);
  if (!plain || !URL.canParse(asUrl)) {
    context.addIssue({ code: "custom", message: "not a host" });
    return z.NEVER;
  }
  return new URL(asUrl).hostname.replace(/^\[(.*)\]$/, "$1");
});

/** The origin of an http or https URL that has nothing but an origin. */
export const HttpOrigin: z.ZodType<string> = z.string().trim().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const bare = url !== undefined && isUrl(text) && url.pathname === "/" &&
    url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (!bare) {
    context.addIssue({ code: "custom", message: "not an origin" });
    return z.NEVER;
  }
  return url.origin;
});

const UNITS = new Map([
  ["", 1],
  ["b", 1],
  ["kb", 1000],
  ["mb", 1000 ** 2],
  ["gb", 1000 ** 3],
  ["kib", 1024],
  ["mib", 1024 ** 2],
  ["gib", 1024 ** 3],
]);

/** A size in bytes, from a number or from a text such as 4MiB. */
export function byteSize(min: number, max: number): z.ZodType<number> {
  const text = z.string().transform((text, context) => {
    const [, amount, unit] = /^\s*(\d{1,15}(?:\.\d{1,6})?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
    const factor = unit === undefined ? undefined : UNITS.get(unit.toLowerCase());
    if (amount === undefined || factor === undefined) {
      context.addIssue({ code: "custom", message: "not a size" });
      return z.NEVER;
    }
    return Math.round(Number(amount) * factor);
  });
  return z.union([z.number(), text]).pipe(z.int().min(min).max(max));
}

const TIME_UNITS = new Map([["ms", 1], ["s", 1_000], ["m", 60_000], ["h", 3_600_000]]);

/** A time in milliseconds, from a number or from a text such as 60s. */
export function duration(min: number, max: number): z.ZodType<number> {
  const text = z.string().transform((text, context) => {
    const [, amount, unit] = /^\s*(\d{1,12}(?:\.\d{1,3})?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
    const factor = TIME_UNITS.get((unit || "ms").toLowerCase());
    if (amount === undefined || factor === undefined) {
      context.addIssue({ code: "custom", message: "not a time" });
      return z.NEVER;
    }
    return Math.round(Number(amount) * factor);
  });
  return z.union([z.number(), text]).pipe(z.int().min(min).max(max));
}

/** A number from 0 to 1. */
export const fraction: z.ZodType<number> = z.union([
  z.number(),
  z.string().trim().regex(/^\d{0,3}(\.\d{1,6})?$/).min(1).transform(Number),
]).pipe(z.number().min(0).max(1));

export const HttpUrl: z.ZodType<string> = z.string().trim().refine((text) =>
  isUrl(text) && URL.canParse(text)
);

/** What a settings file gives as it is, and a flag or a variable as JSON. */
export function jsonOr<T>(schema: z.ZodType<T>): z.ZodType<T> {
  const fromText = z.string().transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: "custom", message: "not JSON" });
      return z.NEVER;
    }
  });
  return z.union([fromText, z.unknown()]).pipe(schema);
}

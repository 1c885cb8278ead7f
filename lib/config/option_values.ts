import * as z from "zod";

/** What an option takes, from a flag or a variable as text, from a settings file as JSON. */
export interface OptionValue<T> {
  schema: z.ZodType<T>;
  /** Ends the sentence "Cannot use X: it must be ...". */
  must: string;
  /** The values, if they are few. */
  choices?: readonly T[];
}

export function wholeNumber(min: number, max: number): OptionValue<number> {
  const digits = z.string().trim().regex(/^\d{1,15}$/).transform(Number);
  return {
    schema: z.union([z.number(), digits]).pipe(z.int().min(min).max(max)),
    must: `a whole number from ${min} to ${max}`,
  };
}

export const Switch: OptionValue<boolean> = {
  schema: z.union([
    z.boolean(),
    z.string().trim().pipe(
      z.stringbool({ truthy: ["1", "true", "yes", "on"], falsy: ["0", "false", "no", "off"] }),
    ),
  ]),
  must: "true or false",
};

export function oneOf<const T extends string>(choices: readonly T[]): OptionValue<T> {
  return {
    schema: z.string().trim().toLowerCase().pipe(z.enum(choices)),
    must: `one of ${choices.join(", ")}`,
    choices,
  };
}

export function anyText(maxLength: number, must: string): OptionValue<string> {
  return { schema: z.string().min(1).max(maxLength), must };
}

export function text(pattern: RegExp, must: string): OptionValue<string> {
  return { schema: z.string().regex(pattern), must };
}

/** A path as it was written; resolved by the caller, who knows the base folder. */
const PathText = z.string().min(1).refine((path) => !path.includes("\0"));
export const FilePath: OptionValue<string> = { schema: PathText, must: "the path of a file" };
export const FolderPath: OptionValue<string> = { schema: PathText, must: "the path of a folder" };

export const KvLocation: OptionValue<string> = {
  schema: PathText.refine((value) => !isUrl(value) || URL.canParse(value)),
  must: 'the path of a file, ":memory:" or an http(s) URL',
};

export function isUrl(value: string): boolean {
  return /^https?:\/\//i.test(value);
}

/** A name or an IP address to listen on, IPv6 with or without brackets. */
export const ListenHost: OptionValue<string> = {
  schema: z.string().trim().transform((text) => {
    const bare = text.replace(/^\[(.*)\]$/, "$1");
    const url = URL.parse(`http://${bare.includes(":") ? `[${bare}]` : bare}/`);
    const isPlain = /^[A-Za-z0-9._-]+$/.test(bare) || /^[0-9A-Fa-f:.]+$/.test(bare);
    return isPlain ? url?.hostname.replace(/^\[(.*)\]$/, "$1") : undefined;
  }).pipe(z.string()),
  must: "a host name or IP address, without scheme or port",
};

export const HttpUrl: OptionValue<string> = {
  schema: z.string().trim().refine((text) => isUrl(text) && URL.canParse(text)),
  must: "an http or https URL",
};

/** The origin of an http or https URL that has nothing but an origin. */
export const HttpOrigin: OptionValue<string> = {
  schema: HttpUrl.schema.transform((text) => {
    const { origin, pathname, search, hash, username, password } = new URL(text);
    return pathname === "/" && search + hash + username + password === "" ? origin : undefined;
  }).pipe(z.string()),
  must: "an http or https URL without a path, such as https://tools.example.com",
};

const KIB = 1024;
const SIZE_UNITS = new Map([
  ...[["", 1], ["b", 1], ["kb", 1000], ["mb", 1000 ** 2], ["gb", 1000 ** 3]] as const,
  ...[["kib", KIB], ["mib", KIB ** 2], ["gib", KIB ** 3]] as const,
]);
const TIME_UNITS = new Map([["", 1], ["ms", 1], ["s", 1_000], ["m", 60_000], ["h", 3_600_000]]);

/** A size in bytes, from a number or from a text such as 4MiB. */
export function byteSize(min: number, max: number, must: string): OptionValue<number> {
  return { schema: measure(SIZE_UNITS, min, max), must };
}

/** A time in milliseconds, from a number or from a text such as 60s. */
export function timeSpan(min: number, max: number, must: string): OptionValue<number> {
  return { schema: measure(TIME_UNITS, min, max), must };
}

function measure(units: ReadonlyMap<string, number>, min: number, max: number) {
  const text = z.string().transform((text) => {
    const [, amount, unit = ""] = /^\s*(\d{1,15}(?:\.\d{1,6})?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
    // Not a number without an amount or with an unknown unit, which the check below refuses.
    return Math.round(Number(amount) * (units.get(unit.toLowerCase()) ?? NaN));
  });
  return z.union([z.number(), text]).pipe(z.int().min(min).max(max));
}

export const Fraction: OptionValue<number> = {
  schema: z.union([
    z.number(),
    z.string().trim().regex(/^\d{0,3}(\.\d{1,6})?$/).min(1).transform(Number),
  ]).pipe(z.number().min(0).max(1)),
  must: "a number from 0 to 1",
};

/** A settings file has the object itself, a flag or a variable its JSON. */
export function json<T>(schema: z.ZodType<T>, must: string): OptionValue<T> {
  const parse = (value: unknown) => {
    try {
      return typeof value === "string" ? JSON.parse(value) : value;
    } catch {
      return undefined;
    }
  };
  return { schema: z.preprocess(parse, schema), must };
}

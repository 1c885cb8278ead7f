import { isObject } from "../../core/rpc.ts";

/** What MCP forbids to ask in a form; the first that is found is named in the refusal. */
const SECRETS: readonly (readonly [what: string, expression: RegExp])[] = [
  [
    "a seed phrase",
    /\b(?:(?:seed|recovery|backup|mnemonic|secret) ?(?:phrase|words?|seed)|mnemonic|(?:12|24|twelve|twenty-four)[ -]words?)\b/,
  ],
  [
    "a card number",
    /\b(?:(?:credit|debit|bank|payment)? ?card ?(?:number|no|num|details|data)|credit ?card|debit ?card|card ?(?:verification|security) ?(?:code|value|number)|cvv2?|cvc2?|csc)\b/,
  ],
  ["a private key", /\b(?:private|signing|wallet|ssh) ?key\b/],
  [
    "an API key or token",
    /\b(?:api|access|secret|auth|bearer|refresh) ?(?:key|token|secret)s?\b|\bclient ?secret\b/,
  ],
  [
    "a one-time code",
    /\b(?:one[ -]time|otp|2fa|mfa|totp|verification|authenticator) ?(?:code|password|passcode|token)?s?\b(?<=code|password|passcode|token|otp|totp)/,
  ],
  ["a password", /\b(?:pass ?(?:word|phrase|code)|passwd|pwd|pin ?code|pin)s?\b/],
];
/** About a secret, and none itself: how long it is, where it is kept, whether it is to be reset. */
const ABOUT =
  /\b(?:length|count|number of|policy|hint|expiry|expires?|rotation|manager|strength|min|max|limit|budget|algorithm|type|kind|format|name|label|id|last ?(?:4|four)|url|file|path|usage|field)\b/;
/** A message asks for what a field then takes. */
const ASKS =
  /\b(?:enter|type|provide|give|supply|share|input|fill in|confirm|send|tell|need|requires?|submit|paste|what is|what's)\b[^.!?]{0,80}$/;

/** "Do not give us your phone number, PIN, or ..." asks for none of it. */
const WARNS =
  /\b(?:do not|don't|never)(?: ever)? (?:give|enter|share|include|send|provide|type|put|use)\b(?:(?!\b(?:enter|type|provide|give|but|instead|just)\b)[^.!?:;]){0,80}$/;

/** What a form asks for that MCP forbids to ask in one; undefined if nothing is found. */
export function elicitedSecret(params: unknown): string | undefined {
  if (!isObject(params) || params.mode === "url") return undefined;
  const { message, requestedSchema } = params;
  const properties = isObject(requestedSchema) && isObject(requestedSchema.properties)
    ? Object.entries(requestedSchema.properties)
    : [];
  const fields = properties.filter(([, field]) => isFreeText(field));
  for (const [name, field] of fields) {
    const { title, description } = isObject(field) ? field : {};
    const named = secretIn(plain(name)) ?? secretIn(plain(title));
    if (named !== undefined) return named;
    const described = plain(description);
    const asked = secretIn(described);
    if (asked !== undefined) return asked;
  }
  return fields.length > 0 ? askedIn(plain(message)) : undefined;
}

/** A box to tick or a choice takes no secret. */
function isFreeText(field: unknown): boolean {
  if (!isObject(field) || field.enum !== undefined || field.oneOf !== undefined) return false;
  return field.type === undefined || field.type === "string" || field.type === "number" ||
    field.type === "integer";
}

function secretIn(text: string): string | undefined {
  if (text === "" || ABOUT.test(text)) return undefined;
  return SECRETS.find(([, expression]) => {
    const match = expression.exec(text);
    return match && !WARNS.test(text.slice(0, match.index));
  })?.[0];
}

function askedIn(message: string): string | undefined {
  return SECRETS.find(([, expression]) => {
    const match = expression.exec(message);
    const before = match && message.slice(0, match.index);
    return before && ASKS.test(before) && !WARNS.test(before);
  })?.[0];
}

/** `cardNumber` and `card_number` as a person reads them, without what hides letters. */
function plain(text: unknown): string {
  if (typeof text !== "string") return "";
  return text.slice(0, 4_000).normalize("NFKC")
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_\-\s]+/g, " ").toLowerCase();
}

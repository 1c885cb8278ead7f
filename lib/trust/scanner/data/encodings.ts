/** Cheap first looks: most texts have neither long words nor rows of digits. */
export const LONG = /[A-Za-z0-9+/_-]{24}/;
export const PAIRS =
  /[01]{8} ?[01]{8}|[0-9a-fA-F]{2}[ :,-][0-9a-fA-F]{2}[ :,-][0-9a-fA-F]{2}[ :,-]/;

export const BASE64 = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
export const HEX = /\b(?:0x)?((?:[0-9a-fA-F]{2}){20,})\b/g;
export const SPACED = /\b(?:[0-9a-fA-F]{2}[ :,-]){15,}[0-9a-fA-F]{2}\b/g;
export const BASE32 = /\b[A-Z2-7]{32,}={0,6}/g;
export const BITS = /\b(?:[01]{8} ?){10,}/g;
export const PERCENT = /(?:[\w.~-]{0,3}%[0-9a-fA-F]{2}){6,}[\w.~%-]{0,200}/g;
export const ESCAPED = /(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\u\{[0-9a-fA-F]{1,6}\}){6,}/g;
export const ENTITIES = /(?:&#(?:\d{2,6}|x[0-9a-fA-F]{2,5});){6,}/g;

/** Letters that digits and signs are taken for. */
export const DIGITS = new Map(
  Object.entries({ 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t", "@": "a", $: "s" }),
);

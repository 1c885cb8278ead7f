// deno-lint-ignore-file no-import-prefix -- not in deno.json, so that a start does not fetch it
export { default } from "npm:fast-check@^4.10.2";

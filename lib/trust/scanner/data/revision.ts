/**
 * A digest of the scanner's sources, stored with each verdict: definitions that other rules judged
 * are scanned again, within one version too. Written by `deno run -A bench/scanner/revise.ts`.
 */
export const REVISION = "e965f01a7b3c";

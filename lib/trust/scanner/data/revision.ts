/**
 * A digest of the scanner's sources, stored with each verdict: definitions that other rules judged
 * are scanned again, within one version too. Written by `deno run -A bench/scanner/revise.ts`.
 */
export const REVISION = "53d8c28992d5";

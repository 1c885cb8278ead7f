/**
 * A digest of the rules. What was found is kept, and made anew wherever this is another one: a
 * change of the rules must reach definitions that were looked at before, in the same version too.
 * `deno run -A bench/scanner/revise.ts` writes it.
 */
export const REVISION = "6d60a7069d48";

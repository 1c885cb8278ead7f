import { basename, dirname } from "@std/path";

/** Deno as a program like any other, which it is not under the path of the one that runs here. */
export const OTHER_DENO = `${dirname(Deno.execPath())}/./${basename(Deno.execPath())}`;

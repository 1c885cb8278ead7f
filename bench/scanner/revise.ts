/** `deno run -A bench/scanner/revise.ts`: writes the digest of the scanner's rules. */
import { digestOfRules } from "../../lib/catalog/scan/testing/digest_of_rules.ts";

const REVISION = new URL("../../lib/catalog/scan/revision.ts", import.meta.url);
const text = Deno.readTextFileSync(REVISION);
Deno.writeTextFileSync(
  REVISION,
  text.replace(/REVISION = "\w*"/, `REVISION = "${digestOfRules()}"`),
);

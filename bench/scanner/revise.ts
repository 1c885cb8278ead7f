/** `deno run -A bench/scanner/revise.ts`: writes the digest of the scanner's rules. */
import { digestOfRules } from "../../lib/trust/scanner/testing/digest_of_rules.ts";

const REVISION = new URL("../../lib/trust/scanner/data/revision.ts", import.meta.url);
const text = Deno.readTextFileSync(REVISION);
Deno.writeTextFileSync(
  REVISION,
  text.replace(/REVISION = "\w*"/, `REVISION = "${digestOfRules()}"`),
);

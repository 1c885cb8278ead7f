import { type Finding, ok, warning } from "./finding.ts";

/** The Deno that the gateway is tested with. */
export const TESTED_DENO = "2.9.6";

export function checkRuntime(version: string = Deno.version.deno): Finding[] {
  const order = compare(version, TESTED_DENO);
  if (order === 0) return [ok("deno", `Deno ${version}, which the gateway is tested with`)];
  if (order > 0) {
    return [
      ok("deno", `Deno ${version}, newer than ${TESTED_DENO}, which the gateway is tested with`),
    ];
  }
  return [warning(
    "deno",
    `Deno ${version} is older than ${TESTED_DENO}, which the gateway is tested with`,
    `Update with \`deno upgrade\`, or run it with \`npx -y deno@${TESTED_DENO} task start\``,
  )];
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number));
  for (let index = 0; index < 3; index++) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

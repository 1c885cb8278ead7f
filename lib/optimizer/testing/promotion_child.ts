import { PromotionsRepository } from "../../storage/promotions_repository.ts";
import { Store } from "../../storage/store.ts";
import { Promotions } from "../promotions.ts";

export const SERVER = "git";
export const TOOL = "status";
/** Nobody lets it run so long; if nobody kills it, it ends by itself. */
const MOST_STEPS = 100_000;

/** The server's own description at a step: now and then too large for one entry, or one commit. */
export function canonicalAt(step: number): string {
  const length = step % 60 === 0 ? 800_000 : step % 20 === 0 ? 100_000 : 100;
  return `${step}`.padEnd(length, "x");
}

// Promotes and reverts until it is killed: promotion_child.ts PATH
if (import.meta.main) {
  const [path = ""] = Deno.args;
  await using store = await Store.open({ location: path });
  const repository = new PromotionsRepository(store);
  let step = Number((await repository.newest(SERVER, TOOL))?.reason ?? 0);
  const promotions = new Promotions({
    repository,
    canonical: () => canonicalAt(step),
    onChange: () => {},
  });
  const tool = { server: SERVER, by: "job" as const };
  for (const last = step + MOST_STEPS; step < last;) {
    step++;
    const isPromoted = (await repository.find(SERVER, TOOL)) !== undefined;
    if (isPromoted && step % 3 !== 0) {
      await promotions.revert({ ...tool, tool: TOOL, reason: `${step}` });
    } else {
      await promotions.promote({
        ...tool,
        toolName: TOOL,
        candidateId: `candidate-${step}`,
        description: `Description ${step}`,
        reason: `${step}`,
      });
    }
    // What is written here is done, whatever comes after it.
    Deno.stdout.writeSync(new TextEncoder().encode(`${step}\n`));
  }
}

/**
 * Frees 64 MB in small blocks, all but the highest one, and rests. Prints how many bytes of memory it had
 * before, and the least it had afterwards.
 */
import { tidyAtRest } from "../tidy.ts";

const BLOCKS = 16_384;
const BLOCK_BYTES = 4_096;
const ENOUGH_BYTES = 32 * 1024 * 1024;
/** Only a test that fails waits this long. */
const LIMIT_MS = 20_000;

let blocks = Array.from({ length: BLOCKS }, () => new Uint8Array(BLOCK_BYTES).fill(1));
const full = Deno.memoryUsage().rss;
blocks = blocks.slice(-1);
const end = tidyAtRest(() => ({ tools: 1, answered: 0 }), { soonMs: 10 });
let least = full;
for (const over = Date.now() + LIMIT_MS; full - least < ENOUGH_BYTES && Date.now() < over;) {
  await new Promise((resolve) => setTimeout(resolve, 20));
  least = Math.min(least, Deno.memoryUsage().rss);
}
end();
// The highest block is in use until here.
if (blocks[0]?.[0] !== 1) throw new Error("The highest block is gone");
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ full, least })));

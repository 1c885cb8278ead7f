/** The race again and again: `deno run -A tests/soak/toolsets_soak.ts [ROUNDS] [SEED]` (20 unless told). */
import { TwoGateways } from "../toolsets_race.ts";

if (import.meta.main) {
  const [rounds = 20, first = Math.floor(Math.random() * 2 ** 30)] = Deno.args.map(Number);
  await using gateways = await TwoGateways.start();
  const started = performance.now();
  for (let round = 0; round < rounds; round++) await gateways.race(first + round);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const line = `${rounds} rounds from seed ${first} in ${seconds} s\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(line));
}

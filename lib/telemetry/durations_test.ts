import assert from "node:assert/strict";
import { Durations } from "./durations.ts";

function near(actual: number, wanted: number): void {
  assert.ok(Math.abs(actual / wanted - 1) < 0.1, `${actual} is not near ${wanted}`);
}

Deno.test("Durations.quantile() is within a tenth of the true one", () => {
  const durations = new Durations();
  for (let ms = 1; ms <= 1_000; ms++) durations.add(ms);
  near(durations.quantile(0.5), 500);
  near(durations.quantile(0.95), 950);
  near(durations.quantile(1), 1_000);
});

Deno.test("Durations.quantile() is 0 without durations, and finite for the longest", () => {
  const durations = new Durations();
  assert.equal(durations.quantile(0.5), 0);
  durations.add(0);
  durations.add(1e12);
  assert.ok(durations.quantile(0.5) < 1);
  assert.ok(Number.isFinite(durations.quantile(1)));
});

Deno.test("Durations.addAll() counts those of another as its own", () => {
  const [quick, slow] = [new Durations(), new Durations()];
  quick.add(10);
  slow.add(1_000);
  slow.add(1_000);
  quick.addAll(slow);
  near(quick.quantile(0.5), 1_000);
});

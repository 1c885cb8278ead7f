import assert from "node:assert/strict";
import { forEachOption, OPTIONS, type Options } from "../config/option_table.ts";
import type { OptionOrigin, ReadOptions } from "../config/options.ts";
import { noTokenToServe } from "./serve.ts";

function told(
  given: Partial<Options>,
  origin: OptionOrigin = "flag",
  name: "local" | "deploy" = "local",
): { message: string; step: string } {
  const fallbacks = forEachOption((name) => OPTIONS[name].fallback);
  const read = {
    options: { ...fallbacks, ...given },
    origins: forEachOption((name) => name in given ? origin : "default"),
    platform: { name, canSpawn: true, canWrite: true },
  } as Pick<ReadOptions, "options" | "origins" | "platform">;
  const { message, details } = noTokenToServe(read);
  return { message, step: details.recoverySteps?.[0] ?? "" };
}

Deno.test("noTokenToServe() says what the token is needed for", () => {
  const asked = told({ requireToken: true }).message;
  assert.match(asked, /Cannot serve on 127\.0\.0\.1: .*because --require-token is set, but has no/);
  assert.doesNotMatch(asked, /reach/);
  assert.match(
    told({ host: "0.0.0.0" }).message,
    /because other machines can reach it on 0\.0\.0\.0/,
  );
  assert.match(
    told({ requireToken: true, publicUrl: "https://tools.example.com" }).message,
    /is set and its public URL is https:\/\/tools\.example\.com/,
  );
  const deployed = told({ host: "0.0.0.0" }, "default", "deploy").message;
  assert.match(deployed, /because anyone can reach it on Deno Deploy, but/);
});

Deno.test("noTokenToServe() names the data folder where a command would not find it", () => {
  const command = "quartermaster token create --name me --rights read,call,manage";
  const given = { requireToken: true, dataDir: "/srv/my tools" };
  assert.ok(told(given).step.endsWith(`\`${command} --data-dir "/srv/my tools"\``));
  assert.ok(told(given, "environment").step.includes(" --data-dir "));
  // The command reads that file too.
  assert.ok(told(given, "settings file").step.endsWith(`\`${command}\``));
  assert.ok(told({ requireToken: true, kv: "/srv/x.kv" }).step.endsWith("--kv /srv/x.kv`"));
});

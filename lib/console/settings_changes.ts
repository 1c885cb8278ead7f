import { z } from "zod";
import type { Gateway } from "../compose.ts";
import { LOG_LEVELS } from "../config/option_table.ts";
import type { Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";

/** What can be changed while the gateway runs. */
const SettingsChange = z.discriminatedUnion("change", [
  z.object({ change: z.literal("optimization"), to: z.enum(["on", "off"]) }),
  z.object({ change: z.literal("log-level"), to: z.enum(LOG_LEVELS) }),
  z.object({ change: z.literal("search") }),
  z.object({ change: z.literal("evaluator-check") }),
  z.object({ change: z.literal("evaluator-test") }),
]);
export type SettingsChange = z.infer<typeof SettingsChange>;

/** What each needs: one address for all of them says nothing of what spends model time. */
const RIGHTS: Record<SettingsChange["change"], readonly Right[]> = {
  optimization: ["manage", "optimize"],
  "log-level": ["manage"],
  search: ["manage"],
  "evaluator-check": ["manage"],
  "evaluator-test": ["manage", "optimize"],
};

type ChangedGateway =
  & Pick<
    Gateway,
    "optimization" | "evaluator" | "logs" | "reindexSearch" | "tellLive" | "requestLog"
  >
  & {
    access: Pick<Gateway["access"], "demand">;
    audit?: Pick<Gateway["audit"], "note">;
  };

export function readSettingsChange(fields: URLSearchParams): SettingsChange {
  const parsed = SettingsChange.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot change "${fields.get("change") ?? ""}" to "${fields.get("to") ?? ""}"`,
    recoveryAction: "Load the page again and choose one of what it offers",
  });
}

/** Changes it at once where the caller may, and answers the name of what was done. */
export async function changeSettings(
  gateway: ChangedGateway,
  asked: SettingsChange,
  { principal, signal }: { principal: string; signal: AbortSignal },
): Promise<keyof typeof DONE> {
  for (const right of RIGHTS[asked.change]) {
    gateway.access.demand(principal, right, `To change "${asked.change}"`);
  }
  switch (asked.change) {
    case "optimization":
      await (await gateway.optimization()).setEnabled(asked.to === "on");
      return asked.to === "on" ? "optimization-on" : "optimization-off";
    case "log-level":
      gateway.requestLog.info({ from: gateway.logs.level, to: asked.to }, "Log level changed");
      gateway.audit?.note({
        action: "settings.change",
        subject: "log level",
        before: gateway.logs.level,
        after: asked.to,
      });
      gateway.logs.level = asked.to;
      gateway.tellLive("settings");
      return "log-level";
    case "search":
      await gateway.reindexSearch();
      gateway.audit?.note({ action: "search.reindex", subject: "search index" });
      gateway.tellLive("settings");
      return "search";
    case "evaluator-check": {
      await (await gateway.evaluator()).check.run();
      return "evaluator-check";
    }
    case "evaluator-test": {
      const { check, trial } = await gateway.evaluator();
      await trial.run(signal);
      // The result is shown beside what it was got with.
      await check.run();
      return "evaluator-test";
    }
  }
}

/** Where to see what was done. */
export function donePath(done: keyof typeof DONE): string {
  const query = new URLSearchParams({
    done,
    ...(done.startsWith("evaluator-") ? { check: "evaluator" } : {}),
  });
  return `/settings?${query}`;
}

/** Said on the page that follows. */
export const DONE = {
  "optimization-on": "Optimization is on. Clients at the gateway's own door have been told.",
  "optimization-off": "Optimization is off. Nothing spends model time any more.",
  "log-level": "The log level is changed, until the gateway is started again.",
  "evaluator-check": "The evaluator was looked for. What was found is under Optimization.",
  "evaluator-test": "The test has ended. Its result is under Optimization.",
  search: "All tools are indexed again. Their meanings follow in the background.",
} as const;

export function doneText(code: string | null): string | undefined {
  return Object.entries(DONE).find(([name]) => name === code)?.[1];
}

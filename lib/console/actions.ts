import { z } from "zod";
import type { Gateway } from "../compose.ts";
import type { Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { SettingsRepository } from "../storage/settings_repository.ts";
import { restartSoon } from "./restart_soon.ts";
import { finishTour } from "./tour.ts";
import { formatCount } from "./ui/format.ts";

/** What one click can do, from the dashboard and from the palette alike. */
const ConsoleAction = z.discriminatedUnion("action", [
  z.object({ action: z.literal("restart-server"), server: z.string() }),
  z.object({ action: z.literal("equip-toolset"), toolset: z.string() }),
  z.object({ action: z.literal("unequip-toolset") }),
  z.object({ action: z.literal("keep-promotion"), server: z.string(), tool: z.string() }),
  z.object({ action: z.literal("revert-promotion"), server: z.string(), tool: z.string() }),
  z.object({ action: z.literal("resume-job"), job: z.string() }),
  z.object({ action: z.literal("retry-job"), job: z.string() }),
  z.object({ action: z.literal("finish-tour") }),
]);
export type ConsoleAction = z.infer<typeof ConsoleAction>;

/** What each needs, as at its own address: one address for all of them says nothing of it. */
const RIGHTS: Record<ConsoleAction["action"], readonly Right[]> = {
  "restart-server": ["manage"],
  "equip-toolset": ["read"],
  "unequip-toolset": ["read"],
  "keep-promotion": ["manage", "optimize"],
  "revert-promotion": ["manage", "optimize"],
  "resume-job": ["manage", "optimize"],
  "retry-job": ["manage", "optimize"],
  "finish-tour": ["manage"],
};

type ActingGateway =
  & Pick<Gateway, "admin" | "toolsets" | "optimization" | "store" | "requestLog">
  & { access: Pick<Gateway["access"], "demand"> };

/** Reads an action from a form's fields. */
export function readAction(fields: URLSearchParams): ConsoleAction {
  const parsed = ConsoleAction.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot do "${fields.get("action") ?? ""}": the console knows no such action`,
    recoveryAction: "Load the page again; it may be of an earlier version",
  });
}

/** Does it where the caller may, and says what was done. */
export async function runAction(
  gateway: ActingGateway,
  asked: ConsoleAction,
  principal: string,
): Promise<string> {
  for (const right of RIGHTS[asked.action]) {
    gateway.access.demand(principal, right, `To do "${asked.action}"`);
  }
  switch (asked.action) {
    case "restart-server": {
      const status = await restartSoon(gateway, asked.server);
      if (status === undefined) return `${asked.server} is being restarted`;
      const { name, state, reason, toolCount } = status;
      if (state === "ready") return `Restarted ${name}: ${formatCount(toolCount, "tool")}`;
      throw new GatewayError("SERVER_DISCONNECTED", {
        message: `Restarted ${name}, and it does not work: ${reason}`,
        recoverySteps: ["Look at its page: its log and its state history are there"],
      });
    }
    case "equip-toolset": {
      const { name } = await gateway.toolsets.toolsets.equip(principal, asked.toolset);
      return `Equipped ${name}`;
    }
    case "unequip-toolset":
      await gateway.toolsets.toolsets.unequip(principal);
      return "No toolset is equipped";
    case "keep-promotion":
      await (await gateway.optimization()).keep(asked.server, asked.tool);
      return `Kept the promoted description of ${asked.tool}`;
    case "revert-promotion":
      await (await gateway.optimization()).revert(asked, "person");
      return `${asked.tool} has its server's own description again`;
    case "resume-job":
      await (await gateway.optimization()).jobs.resume(asked.job);
      return "The job goes on";
    case "retry-job":
      return await retryJob(gateway, asked.job);
    case "finish-tour":
      await finishTour(new SettingsRepository(gateway.store));
      return "The tour is over; the documentation has the rest";
  }
}

/** Starts again what a job did not get done, with the same options; one job a server. */
async function retryJob(gateway: ActingGateway, id: string): Promise<string> {
  const { jobs } = await gateway.optimization();
  const { tools, options } = await jobs.get(id);
  const undone = tools.filter(({ failed, phase }) => failed || phase !== "complete");
  const byServer = Map.groupBy(undone, ({ server }) => server);
  const started: string[] = [];
  for (const [server, tools] of byServer) {
    const names = tools.map(({ toolName }) => toolName);
    try {
      await jobs.start({ server, tools: names, options, by: "person" });
    } catch (error) {
      if (started.length === 0 || !(error instanceof GatewayError)) throw error;
      throw new GatewayError(error.code, {
        ...error.details,
        message: `Started again for ${started.join(", ")}, but not for ${server}: ${error.message}`,
        cause: error,
      });
    }
    started.push(server);
  }
  return started.length === 0
    ? "All of its tools are done"
    : `Started again for ${started.join(", ")}`;
}

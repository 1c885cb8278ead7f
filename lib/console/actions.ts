import * as z from "zod";
import type { Gateway } from "../gateway.ts";
import { type ErrorCode, GatewayError } from "../core/errors.ts";
import type { ServerStatus } from "../core/server.ts";
import { TransportClosed } from "../servers/transports/transport.ts";
import { SettingsRepository } from "../storage/settings_repository.ts";
import { JOB_OPERATIONS } from "../operations/jobs.ts";
import {
  demandRights,
  type Operation,
  type OperationCall,
  type Restrictions,
  runOperation,
} from "../operations/operation.ts";
import { OPTIMIZATION_OPERATIONS } from "../operations/optimization.ts";
import { SERVER_OPERATIONS } from "../operations/servers.ts";
import type { Services } from "../operations/services.ts";
import { TOOLSET_OPERATIONS } from "../operations/toolsets.ts";
import { finishTour } from "./tour.ts";
import { formatCount } from "./ui/format.ts";

const ConsoleAction = z.discriminatedUnion("action", [
  z.object({
    action: z.enum(["restart-server", "repair-server", "resume-server"]),
    server: z.string(),
  }),
  z.object({ action: z.literal("equip-toolset"), toolset: z.string() }),
  z.object({ action: z.enum(["unequip-toolset", "finish-tour"]) }),
  z.object({
    action: z.enum(["keep-promotion", "revert-promotion"]),
    server: z.string(),
    tool: z.string(),
  }),
  z.object({ action: z.enum(["resume-job", "retry-job"]), job: z.string() }),
]);
export type ConsoleAction = z.infer<typeof ConsoleAction>;

/** Ending the tour is not an operation, but still requires a right: it ends for everybody. */
const TOUR: Restrictions = { name: "the tour", rights: ["manage"], scope: "whole" };

type ActingGateway = Services & Pick<Gateway, "store" | "requestLog">;

export function readAction(fields: URLSearchParams): ConsoleAction {
  const parsed = ConsoleAction.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  throw new GatewayError("INVALID_ARGUMENTS", {
    message: `Cannot do "${fields.get("action") ?? ""}": unknown action`,
    recoveryAction: "Reload the page; it may be from an earlier version",
  });
}

export async function runAction(
  gateway: ActingGateway,
  asked: ConsoleAction,
  call: OperationCall,
): Promise<string> {
  const run = async (operation: Operation, input: Record<string, unknown>) =>
    operation.text!(await runOperation(operation, gateway, input, call), input).split("\n")[0]!;
  switch (asked.action) {
    case "restart-server":
    case "repair-server":
      return await restarted(gateway, asked.action, asked.server, call);
    case "resume-server":
      return await run(SERVER_OPERATIONS.resume, { name: asked.server });
    case "equip-toolset":
      return await run(TOOLSET_OPERATIONS.equip, { name: asked.toolset });
    case "unequip-toolset":
      return await run(TOOLSET_OPERATIONS.unequip, {});
    case "keep-promotion":
    case "revert-promotion": {
      const { action, ...named } = asked;
      const { keep, revert } = OPTIMIZATION_OPERATIONS;
      return await run(action === "keep-promotion" ? keep : revert, named);
    }
    case "resume-job":
    case "retry-job": {
      const { resume, retry } = JOB_OPERATIONS;
      return await run(asked.action === "resume-job" ? resume : retry, { jobId: asked.job });
    }
    case "finish-tour":
      demandRights(TOUR, gateway.access, call);
      await finishTour(new SettingsRepository(gateway.store));
      return "Tour closed. See the documentation to learn more";
  }
}

/** With the operation's rights, but without waiting for all of it. */
async function restarted(
  gateway: ActingGateway,
  action: "restart-server" | "repair-server",
  server: string,
  call: OperationCall,
): Promise<string> {
  const [verb, done] = action === "restart-server"
    ? ["restart", "Restarted"] as const
    : ["repair", "Repaired"] as const;
  demandRights(SERVER_OPERATIONS[verb], gateway.access, call);
  const status = await restartSoon(gateway, server, { verb });
  if (status === undefined) return `${server} is being ${done.toLowerCase()}`;
  const { name, state, reason, toolCount } = status;
  if (state === "ready") return `${done} ${name}: ${formatCount(toolCount, "tool")}`;
  throw new GatewayError("SERVER_DISCONNECTED", {
    message: `${done} ${name}, but it is still not working: ${reason}`,
    recoverySteps: ["Check the log and state history on its page"],
  });
}

const WAIT_MS = 300;

/** What the server is to blame for; its page tells the reason. */
const SERVER_TROUBLE: readonly ErrorCode[] = ["SERVER_DISCONNECTED", "TIMEOUT", "LIMIT_EXCEEDED"];

/**
 * Restarts or repairs a server without waiting for all of it: the page shows its state as it changes, and why
 * it failed if it did. Gives the state where that is known at once. Throws where it is not the
 * server that failed; what happens later is logged.
 */
export async function restartSoon(
  { admin, requestLog }: Pick<Gateway, "admin" | "requestLog">,
  name: string,
  { verb = "restart", waitMs = WAIT_MS }: { verb?: "restart" | "repair"; waitMs?: number } = {},
): Promise<ServerStatus | undefined> {
  const { promise: waited, resolve } = Promise.withResolvers<undefined>();
  let isWaiting = true;
  const timer = setTimeout(() => {
    isWaiting = false;
    resolve(undefined);
  }, waitMs);
  const restarted = admin[verb](name).catch((error: unknown) => {
    if (isServerTrouble(error)) return isWaiting ? admin.describe(name).server : undefined;
    if (isWaiting) throw error;
    requestLog.error({ err: error, server: name }, `Cannot ${verb} a server`);
  });
  try {
    return await Promise.race([restarted.then((status) => status ?? undefined), waited]);
  } finally {
    clearTimeout(timer);
  }
}

function isServerTrouble(error: unknown): boolean {
  return error instanceof TransportClosed ||
    error instanceof GatewayError && SERVER_TROUBLE.includes(error.code);
}

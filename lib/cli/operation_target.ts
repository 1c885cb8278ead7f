import type { Operation } from "../operations/operation.ts";
import type { CommandInput } from "./command.ts";
import { openServers, resolveGateways } from "./servers_access.ts";

/** Where a command's operation runs. */
export interface OperationTarget extends AsyncDisposable {
  readonly isRunning: boolean;
  // deno-lint-ignore no-explicit-any
  run(operation: Operation, input: Record<string, unknown>): Promise<any>;
}

/**
 * The gateway that runs on this data store; without one, the operations run in this process, unless
 * they need a running gateway.
 */
export async function openTarget(input: CommandInput, isLive = false): Promise<OperationTarget> {
  return isLive ? (await resolveGateways(input))[0]!.client : await openServers(input);
}

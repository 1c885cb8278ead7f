import type { CallerRights } from "../mcp/call.ts";
import type { GatewayTools } from "../mcp/combined_views.ts";
import type { BuiltinTool } from "../mcp/builtin_tool.ts";
import { operationTools } from "./mcp.ts";
import { demandRights, mayRun, type Restrictions } from "./operation.ts";
import { SERVER_OPERATIONS } from "./servers.ts";
import type { Services } from "./services.ts";
import { TOOLSET_OPERATIONS } from "./toolsets.ts";

/** The gateway's own administrative tools, with what each requires of its caller. */
export function gatewayTools(services: Services, caller: CallerRights): GatewayTools {
  return {
    servers: operationTools(Object.values(SERVER_OPERATIONS), services),
    toolsets: operationTools(Object.values(TOOLSET_OPERATIONS), services),
    async optimization() {
      const [{ OPTIMIZATION_OPERATIONS }, { JOB_OPERATIONS }, { TRAFFIC_OPERATIONS }] =
        await Promise.all([
          import("./optimization.ts"),
          import("./jobs.ts"),
          import("./traffic.ts"),
        ]);
      const operations = [
        ...Object.values(OPTIMIZATION_OPERATIONS),
        ...Object.values(JOB_OPERATIONS),
        ...Object.values(TRAFFIC_OPERATIONS),
      ];
      const tools = operationTools(operations, services);
      // What spends model time is listed only while that is allowed.
      return {
        always: tools.filter(({ admit }) => !admit),
        gated: tools.filter(({ admit }) => admit),
      };
    },
    mayUse: (principal, tool) => mayRun(restrictionsOf(tool), caller, principal),
    demandUse: (principal, tool) => {
      // The call that it makes demands the right, and the audit log names the tool that was meant.
      if (tool.forwards) return;
      demandRights(restrictionsOf(tool), caller, { principal, isLocal: false });
    },
  };
}

/** Tools that are not an operation's require `read`; those that only call another one, `call`. */
function restrictionsOf({ name, needs, forwards }: BuiltinTool): Restrictions {
  const { rights, isWhole } = needs ??
    { rights: [forwards ? "call" : "read"] as const, isWhole: false };
  return { name, rights, scope: isWhole ? "whole" : "visible" };
}

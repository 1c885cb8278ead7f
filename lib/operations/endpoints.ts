import type { Access } from "../auth/access.ts";
import { canonicalCatalog } from "../catalog/canonical_catalog.ts";
import { buildSearch } from "../catalog/search/module.ts";
import type { Bus } from "../core/bus.ts";
import { defined } from "../core/defined.ts";
import { ContentScreen } from "../mcp/content_screen.ts";
import { type CanonicalParts, McpModule } from "../mcp/module.ts";
import type { Mailbox } from "../storage/mailbox.ts";
import type { CallControlModule, CallControlModuleOptions } from "../trust/call_control/module.ts";
import type { OperationsInput, OperationsModule } from "./module.ts";

interface EndpointsInput
  extends Omit<OperationsInput, "control" | "sync" | "removeDemo" | "othersFollow"> {
  bus: Bus;
  access: Access;
  control: Pick<
    CallControlModule,
    "policy" | "guard" | "approvals" | "forgetSession" | "toolsetModes" | "answerModes"
  >;
  operations: OperationsModule;
  startedAt: number;
  /** Aborts when the gateway begins to stop. */
  signal: AbortSignal;
  gatewayId: string | undefined;
  mailbox: Mailbox;
  /** Built for one command: sessions of other processes are left alone. */
  isCommand?: boolean;
}

/** Asks the person behind a client to approve a call; undefined if the client cannot ask. */
export const elicitApproval: CallControlModuleOptions["elicit"] = async (
  { request, client },
  question,
  limitMs,
) => {
  const { canElicit, elicitConsent } = await import("../mcp/client_questions.ts");
  if (!canElicit(client)) return undefined;
  return await elicitConsent(request, client, question, limitMs);
};

/** The MCP endpoints, with the gateway's own operations as tools. */
export function buildEndpoints(input: EndpointsInput): McpModule {
  const { access, bus, live, telemetry, toolsets, discovery, optimizer, operations } = input;
  const endpoints: McpModule = new McpModule({
    ...input,
    ...input.catalog,
    ...toolsets,
    pool: input.servers.pool,
    equippedBy: (principal) => operations.toolsets.equippedBy(principal),
    ...discovery,
    async loadTools() {
      const { gatewayTools } = await import("./gateway_tools.ts");
      const services = {
        ...telemetry,
        ...input.catalog,
        ...discovery,
        ...input.control,
        ...operations,
        access,
        logs: input.logs,
        address: input.address,
        startedAt: input.startedAt,
        clients: endpoints.clients,
        endpoints,
      };
      return gatewayTools(services, access);
    },
    openCanonical: () => openCanonical(input),
    isOptimizing: optimizer.isEnabled,
    policy: input.control.policy,
    guard: input.control.guard,
    screen: new ContentScreen(input.trust.screen),
    onOfferedTools: input.trust.lists.onOfferedTools,
    onListCheck: toolsets.logCollisions,
    onSessions: () => live.tell("sessions"),
    onToolCall(answered) {
      const { call, session } = answered;
      const trial = optimizer.trials.unitOf(call, session);
      optimizer.trials.noteCall(telemetry.recorder.record({ ...answered, ...defined({ trial }) }));
    },
    onSessionEnd(session) {
      if (session.isKept) optimizer.trials.noteEnded(session);
      // One with a record may come back, and no other has its id.
      else input.control.forgetSession(session);
    },
    metrics: telemetry.metrics,
    maxBody: input.options.maxBody,
    taskAfterMs: input.options.taskAfter,
  });
  bus.on("serverStatus", () => endpoints.recheck());
  bus.on("serverRemoved", (name) => endpoints.removed(name));
  bus.on("rightsChanged", (owners) => endpoints.rightsChanged(owners));
  bus.on("optimizationSwitched", () => endpoints.recheck());
  return endpoints;
}

/** The servers' own descriptions, with an index of their own to search. */
function openCanonical(input: EndpointsInput): CanonicalParts {
  const stack = new AsyncDisposableStack();
  const { catalog } = stack.use(canonicalCatalog(input.catalog.catalog));
  const { names, metadata } = input.catalog;
  const search = stack.use(buildSearch({
    ...input,
    pool: input.servers.pool,
    catalog,
    names,
    metadata,
    isCommand: true,
  }));
  const { toolsets } = input.toolsets;
  return {
    catalog,
    toolDirectory: input.discovery.toolDirectory.over({ catalog, search: search.search }),
    toolsets: {
      find: (name) => toolsets.find(name),
      resolve: (name) => toolsets.resolve(name),
      registered: (toolset) =>
        toolsets.registered(toolset).flatMap(({ server, name }) =>
          names.of(catalog.snapshot).find(server, name) ?? []
        ),
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

import type { Access } from "./auth/access.ts";
import type { OnAudit } from "./core/audit.ts";
import { TokenCounter } from "./core/token_counter.ts";
import type { ServerPool } from "./downstream/server_pool.ts";
import { SettingsRepository } from "./storage/settings_repository.ts";
import type { Store } from "./storage/store.ts";
import { CallControl } from "./surfaces/call_control.ts";
import type { Approvals, WaitingCall } from "./surfaces/call_control/approvals.ts";
import { RefusedCalls } from "./surfaces/call_control/refused_calls.ts";
import type { ResultPages } from "./surfaces/call_control/result_pages.ts";
import { ToolsetModes } from "./surfaces/call_control/toolset_modes.ts";
import { actingFor } from "./telemetry/audit_origin.ts";
import type { Logs } from "./telemetry/logs.ts";
import type { Toolsets } from "./toolsets/toolsets.ts";

export interface ComposeControlInput {
  stack: AsyncDisposableStack;
  store: Store;
  pool: ServerPool;
  access: Access;
  toolsets: Toolsets;
  logs: Logs;
  /** Where the console is; empty where there is none. */
  address: string;
  /** What waits for a person is something else. */
  onChange(): void;
  onAudit?: OnAudit | undefined;
}

/** A counter remembers what it counted, and results are long. */
const COUNTS_PER_COUNTER = 100;
/** Nobody waits longer for an answer to be counted; a guess is as good for once. */
const COUNT_MS = 500;

/** What may be called, how often, and how much of an answer goes back. */
export async function composeControl(input: ComposeControlInput) {
  const { stack, store, pool, access, toolsets, logs, address, onChange } = input;
  const log = logs.room("control");
  const mask = (json: string) => logs.redactor.json(json);
  const page = address === ""
    ? "the console, Security, Approvals"
    : `${address}/security/approvals`;
  const modes = new ToolsetModes({
    settings: new SettingsRepository(store),
    find: (name) => toolsets.find(name),
    equippedBy: (principal) => toolsets.equippedBy(principal),
    onAudit: input.onAudit,
  });
  // Not later: what is to be held back must not slip through while they are read.
  await modes.load();

  function tell(added: WaitingCall | undefined): void {
    if (added) {
      const { server: serverName, tool: toolName } = added;
      log.warn({ serverName, toolName }, `A call waits for approval: open ${page}`);
    }
    onChange();
  }

  let waiting: Promise<Approvals> | undefined;
  /** Loaded when a call has to wait, or somebody looks. */
  function approvals(): Promise<Approvals> {
    return waiting ??= import("./surfaces/call_control/approvals.ts").then((module) =>
      new module.Approvals({ mask, onChange: tell, onAudit: input.onAudit })
    );
  }

  let counter: TokenCounter | undefined;
  let counts = 0;
  stack.defer(() => counter?.[Symbol.dispose]());
  async function count(text: string): Promise<number> {
    if (counts++ % COUNTS_PER_COUNTER === 0) {
      counter?.[Symbol.dispose]();
      counter = undefined;
    }
    counter ??= new TokenCounter();
    const limit = Promise.withResolvers<number[]>();
    const timer = setTimeout(() => limit.resolve([]), COUNT_MS);
    const [tokens = 0] = await Promise.race([counter.count([text]), limit.promise]);
    clearTimeout(timer);
    return tokens;
  }

  let kept: Promise<ResultPages> | undefined;
  stack.defer(async () => (await kept)?.[Symbol.dispose]());
  function pages(): Promise<ResultPages> {
    return kept ??= import("./surfaces/call_control/result_pages.ts").then((module) =>
      new module.ResultPages({ count })
    );
  }

  const refused = stack.use(
    new RefusedCalls({
      // By the call alone: a request that came before it on the connection may still seem to act.
      onAudit: (entry) =>
        actingFor(
          { principal: entry.principal, from: () => entry.from },
          () => input.onAudit?.(entry),
        ),
    }),
  );
  const gate = new CallControl({
    specOf: (server) => pool.find(server)?.server.spec,
    limitOf: (principal) => access.limitOf(principal),
    toolsetMode: (call) => modes.modeFor(call),
    async askFirst(call) {
      const { askFirst } = await import("./surfaces/call_control/ask_first.ts");
      await askFirst({ approvals: await approvals(), mask, page }, call);
    },
    shorten: async (call, answer, most) => await (await pages()).shorten(call, answer, most),
    readPage: async (scope, port) => (await pages()).read(scope, port),
    onRefused: (use, error) => refused.note(use, error),
  });
  return { gate, approvals, toolsetModes: modes };
}

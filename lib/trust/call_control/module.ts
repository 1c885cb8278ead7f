import type { Access } from "../../auth/access.ts";
import type { LimitShares } from "../../auth/limit_shares.ts";
import type { OnAudit } from "../../core/access.ts";
import { once, within } from "../../core/async.ts";
import { type Client, type McpRequest, sessionKeyOf } from "../../core/client.ts";
import { errorText, parseJson, resultText } from "../../core/rpc.ts";
import { TokenCounter } from "../../core/token_counter.ts";
import type { ServerPool } from "../../servers/pool.ts";
import { LimitUsesRepository } from "../../storage/access_repositories.ts";
import type { KeptLease } from "../../storage/leases_repository.ts";
import type { Mailbox } from "../../storage/mailbox.ts";
import { SettingsRepository } from "../../storage/settings_repository.ts";
import type { Store } from "../../storage/store.ts";
import type { Approvals, AskFirstOptions } from "./approvals.ts";
import {
  APPROVALS_TOPIC,
  CallControl,
  PAGES_TOPIC,
  PageWish,
  type WaitingCall,
} from "./control.ts";
import { RefusedCalls } from "./refused_calls.ts";
import type { ResultPages } from "./result_pages.ts";
import { ToolsetModes } from "./modes.ts";
import { actingFor } from "../../telemetry/audit_log.ts";
import type { Options } from "../../config/option_table.ts";
import type { TelemetryModule } from "../../telemetry/module.ts";
import { openContentGuard } from "../content_guard/module.ts";
import type { Logs } from "../../telemetry/logs.ts";
import type { Toolsets } from "../../catalog/toolsets/toolsets.ts";

export interface CallControlModuleOptions {
  store: Store;
  mailbox: Mailbox;
  lease: Pick<KeptLease, "isAlive">;
  pool: ServerPool;
  access: Access;
  toolsets: Toolsets;
  logs: Logs;
  address: string;
  options: Pick<Options, "answers">;
  telemetry: Pick<TelemetryModule, "metrics" | "activity">;
  onChange(): void;
  onAudit?: OnAudit | undefined;
  onWarning(message: string, details?: object): void;
  /** Asks the person behind a client to approve a call; undefined if the client cannot ask. */
  elicit: AskFirstOptions["elicit"];
}

/** A counter remembers what it counted, and results are long. */
const COUNTS_PER_COUNTER = 100;
/** Nobody waits longer for an answer to be counted; a guess is as good for once. */
const COUNT_MS = 500;

const RESOURCE_NOT_FOUND = -32002;

export type CallControlModule = Awaited<ReturnType<typeof openCallControl>>;

export async function openCallControl(input: CallControlModuleOptions) {
  const { store, mailbox, pool, access, toolsets, logs, address, onChange } = input;
  const stack = new AsyncDisposableStack();
  const log = logs.module("control");
  const mask = (json: string) => logs.redactor.json(json);
  const page = address === ""
    ? "Security, Approvals in the console"
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
      log.warn({ serverName, toolName }, `A call is waiting for approval: open ${page}`);
    }
    onChange();
  }

  let opened: Approvals | undefined;
  const openApprovals = once(async () => {
    const { Approvals } = await import("./approvals.ts");
    const { onAudit, onWarning } = input;
    return opened = new Approvals({ mask, mailbox, onChange: tell, onAudit, onWarning });
  });
  mailbox.handle(APPROVALS_TOPIC, async (body) => (await openApprovals()).take(body));
  /** Calls that wait for a person; loaded when one does, or somebody looks. */
  const approvals = once(async () => {
    const joining = await openApprovals();
    await joining.join().catch((error) =>
      input.onWarning("Cannot ask other gateways for waiting calls", { error })
    );
    return joining;
  });
  input.telemetry.metrics.gauge(
    "quartermaster_approvals_waiting",
    () => opened?.own.length ?? 0,
  );

  const { pages, readPage } = openPages(mailbox, stack);
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
  const policy = new CallControl({
    // Nobody else counts in a store in memory.
    shares: store.location.kind === "memory" ? undefined : lazyShares(input, stack),
    // Bound, not wrapped: these are on the path of every call.
    findServer: pool.find.bind(pool),
    limitOf: access.limitOf.bind(access),
    toolsetMode: modes.modeFor.bind(modes),
    async askFirst(call) {
      const { askFirst } = await import("./approvals.ts");
      await askFirst({ approvals: await approvals(), mask, page, elicit: input.elicit }, call);
    },
    shorten: async (call, answer, most) => await (await pages()).shorten(call, answer, most),
    readPage,
    onRefused: (use, error) => refused.note(use, error),
  });
  const contentGuard = await openContentGuard({
    ...input,
    ...input.telemetry,
    refused: (use, error) => refused.note(use, error),
  });
  return {
    policy,
    approvals,
    forgetSession: (client: Client) => opened?.forget(client),
    toolsetModes: modes,
    ...contentGuard,
    loadModes: async () => void await Promise.all([modes.load(), contentGuard.answerModes.load()]),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Limits for all gateways on the store together; loaded with the first call that has one. */
function lazyShares(
  { store, mailbox, lease, onWarning }: CallControlModuleOptions,
  stack: AsyncDisposableStack,
): Pick<LimitShares, "begin" | "end"> {
  let shares: LimitShares | undefined;
  const open = once(async () => {
    const { LimitShares } = await import("../../auth/limit_shares.ts");
    const uses = new LimitUsesRepository(store);
    const { isAlive } = lease;
    shares = stack.use(new LimitShares({ uses, mailbox, isAlive, onWarning }));
    void shares.sweep();
    return shares;
  });
  return {
    begin(call, bounds) {
      if (shares) return shares.begin(call, bounds);
      const isLimited = bounds.some((bound) => bound.perMinute ?? bound.concurrent);
      return isLimited ? open().then((opened) => opened.begin(call, bounds)) : undefined;
    },
    end: (call) => shares?.end(call),
  };
}

/** The rest of results that were cut: here, or at another gateway on the store. */
function openPages(mailbox: Mailbox, stack: AsyncDisposableStack) {
  let counter: TokenCounter | undefined;
  let counts = 0;
  stack.defer(() => counter?.[Symbol.dispose]());
  async function count(text: string): Promise<number> {
    if (counts++ % COUNTS_PER_COUNTER === 0) {
      counter?.[Symbol.dispose]();
      counter = undefined;
    }
    counter ??= new TokenCounter();
    const [tokens = 0] = await within(counter.count([text]), COUNT_MS) ?? [];
    return tokens;
  }

  let loading: Promise<ResultPages> | undefined;
  stack.defer(async () => (await loading)?.[Symbol.dispose]());
  function pages(): Promise<ResultPages> {
    return loading ??= import("./result_pages.ts").then((module) =>
      new module.ResultPages({ mailbox, count })
    );
  }

  async function readPage(request: McpRequest, client: Client): Promise<string> {
    const uri = String(request.params.uri);
    const found = await (await pages()).find(uri, sessionKeyOf(client) ?? "");
    if (found) return resultText(request.id, found);
    const message = "Page not found: results are stored for ten minutes, for the session that " +
      "made the call, while there is room. Call the tool again";
    return errorText(request.id, RESOURCE_NOT_FOUND, message);
  }
  mailbox.handle(PAGES_TOPIC, async (body) => {
    const { uri, session } = PageWish.parse(parseJson(body));
    return (await loading)?.read(uri, session) ?? "";
  });
  return { pages, readPage };
}

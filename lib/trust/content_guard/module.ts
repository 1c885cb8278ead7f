import type { OnAudit } from "../../core/access.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Options } from "../../config/option_table.ts";
import type { Toolsets } from "../../catalog/toolsets/toolsets.ts";
import type { ServerPool } from "../../servers/pool.ts";
import type { ContentFinding } from "../../core/content_finding.ts";
import { SettingsRepository } from "../../storage/settings_repository.ts";
import type { Store } from "../../storage/store.ts";
import type { ActivityLog } from "../../telemetry/activity_log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { RefusedUse } from "../call_control/control.ts";
import { ContentGuard, type GuardReport } from "./guard.ts";
import { AnswerModes } from "./modes.ts";

interface ContentGuardInput {
  store: Store;
  pool: ServerPool;
  toolsets: Toolsets;
  options: Pick<Options, "answers">;
  metrics: Metrics;
  activity: Pick<ActivityLog, "onEntry">;
  onAudit?: OnAudit | undefined;
  /** Has the audit log note what was not passed on. */
  refused(use: RefusedUse, error: Error): void;
}

/** What was found at a server since this gateway started. */
export interface ServerFindings {
  messages: number;
  blocked: number;
  latest: {
    at: number;
    method: string;
    findings: readonly ContentFinding[];
    isBlocked: boolean;
    /** The id of the call in the activity log, once that has it. */
    call?: string;
  };
}

export type ContentGuardModule = Awaited<ReturnType<typeof openContentGuard>>;

export async function openContentGuard(input: ContentGuardInput) {
  const { store, pool, toolsets, options, metrics, activity, onAudit } = input;
  const modes = new AnswerModes({
    settings: new SettingsRepository(store),
    fallback: () => options.answers,
    findServer: pool.find.bind(pool),
    find: (name) => toolsets.find(name),
    equippedBy: (principal) => toolsets.equippedBy(principal),
    onAudit,
  });
  // Not later: what is to be blocked must not slip through while they are read.
  await modes.load();
  const found = new Map<string, ServerFindings>();
  const count = metrics.counter("quartermaster_content_findings_total");

  function onFound(report: GuardReport): void {
    const { server: { name: server }, client, method, findings, isBlocked } = report;
    for (const { kind, action } of findings) count({ server, kind, action });
    const { messages = 0, blocked = 0 } = found.get(server) ?? {};
    found.set(server, {
      messages: messages + 1,
      blocked: blocked + (isBlocked ? 1 : 0),
      latest: { at: Date.now(), method, findings, isBlocked },
    });
    if (!isBlocked) return;
    const tool = method === "tools/call" ? report.request?.params.name : undefined;
    const subject = typeof tool === "string" ? tool : `${server}.${method}`;
    const why = findings.slice(0, 5).map(({ kind, rule, place }) =>
      `${kind} (${rule}) at ${place}`
    );
    input.refused(
      { action: "content.block", subject, principal: client.principal, client },
      new GatewayError("ANSWER_BLOCKED", { message: `Withheld: ${why.join("; ")}` }),
    );
  }

  activity.onEntry(({ id, server, findings }) => {
    const known = findings && found.get(server);
    if (known) known.latest.call = id;
  });

  return {
    guard: new ContentGuard({ modeOf: (server, client) => modes.modeFor(server, client), onFound }),
    answerModes: modes,
    /** What the guard has found at a server; undefined if nothing. */
    findingsOf: (server: string): ServerFindings | undefined => found.get(server),
  };
}

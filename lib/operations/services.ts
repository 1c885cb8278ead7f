import type { Access } from "../auth/access.ts";
import type { CatalogModule } from "../catalog/module.ts";
import type { Clients } from "../mcp/clients.ts";
import type { Discovery } from "../mcp/discovery.ts";
import type { McpModule } from "../mcp/module.ts";
import type { ActivityReader } from "../telemetry/activity_reader.ts";
import type { Audit } from "../telemetry/audit.ts";
import type { CallRecorder } from "../telemetry/call_recorder.ts";
import type { CallControlModule } from "../trust/call_control/module.ts";
import type { OperationsModule } from "./module.ts";

/** What operations work with: a running gateway, or one that a single command builds. */
export interface Services extends
  Omit<
    OperationsModule,
    "servers" | "toolCalls" | "clientDocument" | "describeTool" | "promotions" | "othersFollow"
  >,
  Pick<CallControlModule, "approvals" | "toolsetModes" | "answerModes">,
  Pick<Discovery, "toolDirectory"> {
  readonly othersFollow?: OperationsModule["othersFollow"];
  readonly access: Pick<Access, "grants" | "demand" | "endOf" | "limitOf" | "nameOf">;
  readonly logs: { readonly redactor: { text(value: string): string } };
  /** The gateway's base URL; empty if it has none. */
  readonly address: string;
  readonly startedAt: number;
  readonly catalog: Pick<CatalogModule["catalog"], "of">;
  readonly names: Pick<CatalogModule["names"], "maxLength">;
  /** Counts what definitions cost in tokens. */
  readonly tokens: Pick<CatalogModule["tokens"], "prepare">;
  readonly audit: Pick<Audit, "reader">;
  readonly calls: Pick<ActivityReader, "calls" | "find">;
  readonly recorder: Pick<CallRecorder, "record">;
  readonly clients: Clients;
  readonly endpoints: Pick<McpModule, "countBuiltins">;
}

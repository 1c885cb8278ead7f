import type { Access } from "../auth/access.ts";
import type { CatalogModule } from "../catalog/module.ts";
import type { Discovery } from "../mcp/discovery.ts";
import type { ActivityReader } from "../telemetry/activity_reader.ts";
import type { Audit } from "../telemetry/audit.ts";
import type { AccessAdmin } from "./access_admin.ts";
import type { Pasted } from "../config/pasted_servers.ts";
import type { LoginAdmin } from "./login_admin.ts";
import type { RemovedServers } from "./removed_servers.ts";
import type { SecretsAdmin } from "./secrets_admin.ts";
import type { ServersAdmin } from "./servers_admin.ts";
import type { OptimizationAdmin } from "./optimization_admin.ts";
import type { OptimizationModule } from "./optimization_module.ts";
import type { GatewaySettings } from "./settings.ts";
import type { Approvals } from "../trust/call_control/approvals.ts";
import type { ToolsetModes } from "../trust/call_control/modes.ts";
import type { Consents } from "../trust/consents.ts";
import type { ReviewAdmin } from "../trust/review_admin.ts";
import type { ToolsetsAdmin } from "./toolsets_admin.ts";

/** What operations work with: a running gateway, or one that a single command builds. */
export interface Services {
  readonly access: Pick<Access, "grants" | "demand" | "endOf" | "limitOf" | "nameOf">;
  readonly admin: ServersAdmin;
  /** Servers whose removal can still be undone. */
  readonly removedServers: RemovedServers;
  /** OAuth logins to servers; loaded at first use. */
  serverLogins(): Promise<LoginAdmin>;
  /** Reads pasted configuration. Only a caller on this machine gets its variables filled in. */
  readPasted(text: string, isFromHere: boolean): Promise<Pasted>;
  readonly logs: { readonly redactor: { text(value: string): string } };
  /** The gateway's base URL; empty if it has none. */
  readonly address: string;
  readonly startedAt: number;
  readonly toolsets: ToolsetsAdmin;
  readonly review: ReviewAdmin;
  /** Calls that wait for a person; loaded at first use. */
  approvals(): Promise<Approvals>;
  readonly toolsetModes: ToolsetModes;
  /** Finds tools and describes them. */
  readonly guide: Discovery["guide"];
  readonly catalog: Pick<CatalogModule["catalog"], "of">;
  readonly names: Pick<CatalogModule["names"], "maxLength">;
  /** Counts what definitions cost in tokens. */
  readonly tokens: Pick<CatalogModule["tokens"], "prepare">;
  readonly audit: Pick<Audit, "reader">;
  /** The calls of tools, and how all of them are deleted. */
  readonly calls: Pick<ActivityReader, "calls" | "find">;
  clearCalls(): Promise<void>;
  /** Programs that wait for the owner's consent; loaded at first use. */
  consents(): Promise<Consents>;
  /** Tokens and projects. */
  readonly accessAdmin: AccessAdmin;
  /** Loaded at first use. */
  secrets(): Promise<SecretsAdmin>;
  /** Loaded at first use. */
  optimization(): Promise<OptimizationAdmin>;
  /** Checks and tries the evaluator; loaded at first use. */
  evaluator(): Promise<OptimizationModule["evaluating"]>;
  /** Throws SERVER_NOT_RUNNING without a running gateway. */
  readonly settings: GatewaySettings;
  /** Whether optimization is switched on. */
  isOptimizing(): boolean;
}

import type { Right } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import type { BuiltinTool } from "./builtin_tool.ts";
import type { CallerRights } from "./call_gate.ts";

/** What a tool of the gateway's own asks of its caller. */
interface Need {
  right: Right;
  /** Whether it shows or changes what belongs to all, and so is not for a narrow token. */
  isWhole: boolean;
}

/** What they show is more than what there is to call: a server writes what it likes to its log. */
const GUARDED: ReadonlySet<string> = new Set(["get_server_logs"]);
const READ: Need = { right: "read", isWhole: false };

/** Which of the gateway's own tools a caller may use. */
export class ToolRights {
  readonly #rights: CallerRights;
  readonly #needs = new Map<string, Need>();

  constructor(rights: CallerRights) {
    this.#rights = rights;
  }

  /** Tools about toolsets: saved ones are everybody's, the equipped one is the caller's own. */
  ofToolsets(tools: readonly BuiltinTool[]): void {
    const manage = new Set(["build-toolset", "delete-toolset"]);
    for (const { name } of tools) {
      if (manage.has(name)) this.#needs.set(name, { right: "manage", isWhole: false });
    }
  }

  /** Tools about the gateway itself. */
  ofGateway(tools: readonly BuiltinTool[]): void {
    for (const { name, annotations } of tools) {
      const right = annotations?.readOnlyHint && !GUARDED.has(name) ? "read" : "manage";
      this.#needs.set(name, { right, isWhole: true });
    }
  }

  /** Tools that spend model time. */
  ofModels(tools: readonly BuiltinTool[]): void {
    for (const { name } of tools) this.#needs.set(name, { right: "optimize", isWhole: true });
  }

  mayUse(principal: string, { name }: BuiltinTool): boolean {
    const { right, isWhole } = this.#needs.get(name) ?? READ;
    const grants = this.#rights.grants(principal);
    return grants.may(right) && (!isWhole || grants.isWhole);
  }

  /** Throws ACCESS_DENIED where a caller may not use a tool. */
  demand(principal: string, tool: BuiltinTool): void {
    if (this.mayUse(principal, tool)) return;
    const { name } = tool;
    const { right, isWhole } = this.#needs.get(name) ?? READ;
    // To one who does not see everything no other right would be of use.
    if (!isWhole || this.#rights.grants(principal).isWhole) {
      this.#rights.demand(principal, right, `Using ${name}`);
    }
    throw new GatewayError("ACCESS_DENIED", {
      message: `This token may not use ${name}: it is not for all servers, tools and toolsets`,
      recoverySteps: ["Ask the owner for a token that is"],
    });
  }
}

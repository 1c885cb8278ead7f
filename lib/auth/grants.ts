import {
  type AccessScope,
  matcherOf,
  type Right,
  RIGHTS,
  serverMatcherOf,
  splitPatterns,
} from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import type { ConsentOrigin } from "../storage/consents_repository.ts";

/** What one caller may do and see; asked on the path of every call, so each answer is kept. */
export class Grants {
  readonly rights: ReadonlySet<Right>;
  /** Whether nothing is kept from the caller. */
  readonly isWhole: boolean;
  readonly #servers: (name: string) => boolean;
  readonly #tools: (name: string) => boolean;
  readonly #toolsets: (name: string) => boolean;
  readonly #known = new Map<string, boolean>();

  constructor(scope: AccessScope, isInProject: ((server: string) => boolean) | undefined) {
    this.rights = new Set(scope.rights);
    const [named, canHave] = [matcherOf(scope.servers), serverMatcherOf(scope.tools)];
    const admitted = (name: string) => named(name) && canHave(name);
    this.#servers = isInProject ? (name) => admitted(name) && isInProject(name) : admitted;
    this.#tools = matcherOf(scope.tools);
    this.#toolsets = matcherOf(scope.toolsets);
    this.isWhole = isInProject === undefined &&
      [scope.servers, scope.tools, scope.toolsets].every(isEverything);
  }

  may(right: Right): boolean {
    return this.rights.has(right);
  }

  admitsServer(name: string): boolean {
    if (this.isWhole) return true;
    let admitted = this.#known.get(name);
    if (admitted === undefined) this.#known.set(name, admitted = this.#servers(name));
    return admitted;
  }

  admitsTool({ server, name }: { server: string; name: string }): boolean {
    if (this.isWhole) return true;
    const whole = `${server}.${name}`;
    let admitted = this.#known.get(whole);
    if (admitted === undefined) {
      // Patterns that name a tool name its server too.
      admitted = this.#servers(server) && this.#tools(whole);
      this.#known.set(whole, admitted);
    }
    return admitted;
  }

  /** A toolset with none of whose tools a caller may see does not exist for it. */
  admitsToolset(name: string, tools?: readonly { server: string; tool: string }[]): boolean {
    if (this.isWhole) return true;
    return this.#toolsets(name) &&
      tools?.some(({ server, tool }) => this.admitsTool({ server, name: tool })) !== false;
  }
}

/** The owner's: nothing is kept from it. */
export const WHOLE_SCOPE: AccessScope = {
  rights: [...RIGHTS],
  servers: ["*"],
  toolsets: ["*"],
  tools: ["*"],
};

/** What each right lets its owner do. */
export const RIGHT_MEANINGS: Readonly<Record<Right, string>> = {
  read: "See servers, tools and toolsets; equip a toolset for its own sessions",
  call: "Call tools, read resources and get prompts",
  manage: "Change servers, toolsets, settings, tokens and projects",
  optimize: "Run evaluations and generate descriptions, which spends model time",
};

/** What a scope admits, in one line. */
export function describeScope({ servers, toolsets, tools }: AccessScope): string {
  const parts = [["servers", servers], ["tools", tools], ["toolsets", toolsets]] as const;
  const narrowed = parts.filter(([, patterns]) => !isEverything(patterns));
  if (narrowed.length === 0) return "everything";
  return narrowed.map(([noun, patterns]) => `${noun} ${describePatterns(patterns)}`).join("; ");
}

function isEverything(patterns: readonly string[]): boolean {
  return patterns.length === 1 && patterns[0] === "*";
}

function describePatterns(patterns: readonly string[]): string {
  const [wanted, excluded] = splitPatterns(patterns);
  if (excluded.length === 0) return wanted.join(", ");
  return wanted.length === 0 || isEverything(wanted)
    ? `all except ${excluded.join(", ")}`
    : `${wanted.join(", ")} except ${excluded.join(", ")}`;
}

/** For a request with an invalid token, or with none. */
export function tokenRefused(message: string): GatewayError {
  return new GatewayError("TOKEN_REQUIRED", {
    message,
    recoverySteps: [
      "Ask the gateway's owner for a token",
      "Send it as `Authorization: Bearer TOKEN`, or set QUARTERMASTER_TOKEN for the command line",
    ],
  });
}

interface NoTokenDetails {
  /** Why one is needed, to follow "because". */
  why?: string;
  /** What tells a command which data is meant, such as "--data-dir /srv/tools". */
  place?: string;
}

/** For a gateway that requires a token and has none. */
export function noTokenYet({ why, place }: NoTokenDetails = {}): GatewayError {
  const needs = why === undefined ? "requires a token" : `requires a token because ${why},`;
  const command = ["quartermaster token create --name me --rights read,call,manage", place ?? ""];
  return new GatewayError("TOKEN_REQUIRED", {
    message: `This gateway ${needs} but has none yet: every request is refused`,
    recoveryAction: "Create a token",
    recoverySteps: [
      `On the gateway's machine: \`${command.join(" ").trim()}\``,
      "Or set QUARTERMASTER_ADMIN_TOKEN to a long random string, and restart",
    ],
  });
}

/** A token does not have a right that something needs. */
export class RightMissing extends GatewayError {
  readonly right: Right;

  constructor(right: Right, attempt: string) {
    super("ACCESS_DENIED", {
      message: `${attempt} requires a token with the right "${right}"`,
      recoverySteps: [`Ask the owner for a token with the right "${right}"`],
    });
    this.right = right;
  }
}

/** Who wants a server added or changed, and what is theirs to decide. */
export interface ServerActor extends ConsentOrigin {
  /** Sits at this machine, at the console or the command line: may name programs and any address. */
  isHere: boolean;
  /** Of one who does not: a person at this machine has seen the program and agreed. */
  hasAgreed?: boolean;
}

/** An unknown caller: may run nothing, and reach nothing private. */
export const UNKNOWN_ACTOR: ServerActor = { via: "api", isHere: false };

import * as z from "zod";
import {
  type BrokenTool,
  canonicalJson,
  type CatalogTool,
  isBroken,
  isUsable,
} from "./catalog_tool.ts";
import type { ChangePolicy, ServerTrust } from "../core/server.ts";
import { isRemovable, withoutFindings } from "./tool_redaction.ts";

export const Finding = z.object({
  rule: z.string(),
  severity: z.enum(["low", "medium", "high"]),
  /** JSON path: `description`, `inputSchema.properties.path.description`, `instructions`. */
  where: z.string(),
  /** The place, at most 160 characters, invisible characters made visible as <U+200B>. */
  excerpt: z.string(),
  why: z.string(),
  /** From where to where it goes in the text at `where`; missing where that is a name. */
  span: z.tuple([z.int(), z.int()]).optional(),
  /** What is taken out, and what a waiver is for; a long one is cut and ends in a hash. */
  passage: z.string().optional(),
});
export type Finding = z.infer<typeof Finding>;

export type Severity = Finding["severity"];

export interface HeldTool {
  kind: "changed" | "added" | "renamed" | "invalid";
  name: string;
  listed: CatalogTool | BrokenTool;
  pinned?: CatalogTool;
  from?: string;
  /** It was turned down: nobody is asked again. */
  isRejected: boolean;
}

export interface FlaggedTool {
  /** As its server sent it. */
  tool: CatalogTool;
  findings: readonly Finding[];
}

interface JudgedTools {
  tools: CatalogTool[];
  held: HeldTool[];
  quarantined: FlaggedTool[];
  flagged: FlaggedTool[];
  unscanned: CatalogTool[];
}

export interface Pin {
  tool: CatalogTool;
  /** A person chose it over what the server lists. */
  isKept: boolean;
}

export interface ReviewRules {
  policy: ChangePolicy;
  /** Default: `normal`. */
  trust?: ServerTrust;
  /** Whether all that was listed at first is pinned, so that what has no pin came later. */
  isWhole: boolean;
  pins: ReadonlyMap<string, Pin>;
  rejected: ReadonlyMap<string, ReadonlySet<string>>;
  /** Tools that were added and turned down as such, by name: later versions stay hidden too. */
  hidden: ReadonlySet<string>;
  waived: ReadonlySet<string>;
}

export interface FindingsSource {
  find(server: string, fingerprint: string): readonly Finding[] | undefined;
  verdict(findings: readonly Finding[]): ScanVerdict;
}

export type ScanVerdict = "clean" | "warn" | "quarantine";

/** The one judge of what of a server's list may be shown; knows no storage and waits for nothing. */
export class ToolGuard {
  readonly #rules = new Map<string, ReviewRules>();
  readonly #findings: FindingsSource | undefined;

  constructor(findings?: FindingsSource) {
    this.#findings = findings;
  }

  setRules(server: string, rules: ReviewRules | undefined): void {
    if (rules) this.#rules.set(server, rules);
    else this.#rules.delete(server);
  }

  rulesOf(server: string): ReviewRules | undefined {
    return this.#rules.get(server);
  }

  judge(server: string, listed: readonly (CatalogTool | BrokenTool)[]): JudgedTools {
    const rules = this.#rules.get(server);
    const { tools, held } = rules && rules.policy !== "allow"
      ? applyPins(rules, listed)
      : { tools: listed.filter(isUsable), held: [] };
    const judged: JudgedTools = { tools, held, quarantined: [], flagged: [], unscanned: [] };
    if (!this.#findings) return judged;
    judged.tools = tools.flatMap((tool) => this.#admitted(server, tool, rules, judged) ?? []);
    return judged;
  }

  /** The current state of a held definition; undefined if it is no longer held. */
  judgeHeld(server: string, { kind, from, listed }: HeldTool): HeldTool | undefined {
    const [held] = this.judge(server, [listed]).held;
    if (held?.kind !== "added" && held?.kind !== "renamed") return held;
    // By itself it could pass for any earlier tool: its role in its own list counts.
    const { from: _, ...rest } = held;
    return kind === "renamed" && from !== undefined
      ? { ...rest, kind, from }
      : { ...rest, kind: "added" };
  }

  /** What is served in the place of a held tool. */
  servedFor(server: string, { from, pinned }: HeldTool): CatalogTool | undefined {
    return from === undefined ? pinned : this.#rules.get(server)?.pins.get(from)?.tool;
  }

  open(
    server: string,
    { name, fingerprint }: Pick<CatalogTool, "name" | "fingerprint">,
    findings: readonly Finding[],
  ): readonly Finding[] {
    const waived = this.#rules.get(server)?.waived;
    if (!waived || waived.size === 0 || findings.length === 0) return findings;
    return findings.filter(({ rule, passage = fingerprint }) =>
      !waived.has(waiverKey(name, rule, passage)) && !waived.has(waiverKey(name, rule, fingerprint))
    );
  }

  /** The tool as it may be shown, or undefined. */
  #admitted(
    server: string,
    tool: CatalogTool,
    rules: ReviewRules | undefined,
    { quarantined, flagged, unscanned }: JudgedTools,
  ): CatalogTool | undefined {
    const found = this.#findings!.find(server, tool.fingerprint);
    if (found === undefined) {
      unscanned.push(tool);
      return undefined;
    }
    if (found.length === 0) return tool;
    const findings = rules ? this.open(server, tool, found) : found;
    const verdict = admission(this.#findings!.verdict(findings), rules?.trust, findings);
    if (verdict === "clean") return tool;
    const rest = verdict === "quarantine" ? undefined : withoutFindings(tool, findings);
    (rest ? flagged : quarantined).push({ tool, findings });
    return rest;
  }
}

/** A server's verdict under its owner's policy. */
export function admission(
  verdict: ScanVerdict,
  trust: ServerTrust = "normal",
  findings: readonly Finding[],
): ScanVerdict {
  if (verdict === "warn" && trust === "untrusted") return "quarantine";
  if (verdict === "quarantine" && trust === "trusted" && isRemovable(findings)) return "warn";
  return verdict;
}

/** What a waiver is for: a passage of a tool that a rule found; in older ones, a whole definition. */
export function waiverKey(tool: string, rule: string, passage: string): string {
  return JSON.stringify([tool, rule, passage]);
}

function applyPins(
  { policy, isWhole, pins, rejected, hidden }: ReviewRules,
  listed: readonly (CatalogTool | BrokenTool)[],
): { tools: CatalogTool[]; held: HeldTool[] } {
  const tools: CatalogTool[] = [];
  const held: HeldTool[] = [];
  const added: CatalogTool[] = [];
  const names = new Set<string>();
  const holdsAll = policy === "hold";
  const pinOf = (name: string) => {
    const pin = pins.get(name);
    return pin && (holdsAll || pin.isKept) ? pin.tool : undefined;
  };
  for (const tool of listed) {
    if (isBroken(tool)) continue;
    const { name } = tool;
    const pinned = pinOf(name);
    names.add(name);
    if (pinned) {
      // Byte for byte, even where only the order of its keys is another.
      tools.push(pinned);
      if (pinned.fingerprint === tool.fingerprint) continue;
      const isRejected = rejected.get(name)?.has(tool.fingerprint) ?? false;
      held.push({ kind: "changed", name, listed: tool, pinned, isRejected });
    } else if (holdsAll && isWhole) added.push(tool);
    else if (hidden.has(name)) {
      held.push({ kind: "added", name, listed: tool, isRejected: true });
    } else tools.push(tool);
  }
  for (const tool of listed) {
    const pinned = isBroken(tool) && !names.has(tool.name) ? pinOf(tool.name) : undefined;
    if (!pinned) continue;
    // One that turned invalid; what is pinned is as callable as before.
    names.add(tool.name);
    tools.push(pinned);
    held.push({ kind: "invalid", name: tool.name, listed: tool, pinned, isRejected: false });
  }
  if (added.length === 0) return { tools, held };
  const went = [...pins.values()].map(({ tool }) => tool).filter(({ name }) => !names.has(name));
  const renames = findRenames(added, went);
  for (const tool of added) {
    const from = renames.get(tool.name);
    const isRejected = rejected.get(tool.name)?.has(tool.fingerprint) ?? false;
    const kind = from === undefined
      ? { kind: "added" } as const
      : { kind: "renamed", from } as const;
    held.push({ ...kind, name: tool.name, listed: tool, isRejected });
  }
  return { tools, held };
}

/** How much of two descriptions must be the same words, where the schemas are the same. */
const SAME_WORDS = 0.6;
const MAX_NEAR = 20;

type Named = Pick<CatalogTool, "name" | "definition">;

/** Which of the tools that came is one of those that went: its name, then the name it had. */
export function findRenames(
  came: readonly Named[],
  went: readonly Named[],
): ReadonlyMap<string, string> {
  if (came.length === 0 || went.length === 0) return new Map();
  const [open, left] = [Map.groupBy(came, bodyOf), Map.groupBy(went, bodyOf)];
  const found = new Map<string, string>();
  for (const [body, tools] of open) {
    const gone = left.get(body) ?? [];
    // If two match, neither is used: a wrong name would mislead the reviewer.
    if (tools.length === 1 && gone.length === 1) found.set(tools[0]!.name, gone[0]!.name);
  }
  const taken = new Set(found.values());
  const others = came.filter(({ name }) => !found.has(name));
  const rest = went.filter(({ name }) => !taken.has(name));
  // Each is compared with each: a server that renames everything is not worth that.
  if (others.length > MAX_NEAR || rest.length > MAX_NEAR) return found;
  for (const tool of others) {
    const [first, second] = rest.filter((gone) => isNear(gone, tool));
    if (!first || second || others.filter((other) => isNear(first, other)).length > 1) continue;
    found.set(tool.name, first.name);
  }
  return found;
}

function isNear(a: Named, b: Named): boolean {
  const [before, after] = [a.definition, b.definition];
  const isSameSchema = canonicalJson(before.inputSchema) === canonicalJson(after.inputSchema);
  const [words, others] = [wordsOf(before.description), wordsOf(after.description)];
  if (words.size === 0 || others.size === 0) return false;
  if (isSameSchema) {
    return 2 * words.intersection(others).size >= SAME_WORDS * (words.size + others.size);
  }
  return before.description === after.description && parametersOf(a) === parametersOf(b);
}

function bodyOf({ definition: { name: _, ...body } }: Named): string {
  return canonicalJson(body);
}

function parametersOf({ definition: { inputSchema: { properties } } }: Named): string {
  return Object.keys(properties ?? {}).sort().join("\n");
}

function wordsOf(text = ""): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

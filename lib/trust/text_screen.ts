import { getOrMake } from "../core/defined.ts";
import { createHash } from "node:crypto";
import * as z from "zod";
import { admission, type Finding, type ToolGuard } from "../catalog/tool_guard.ts";
import { takeOut, withoutSpans } from "../catalog/tool_redaction.ts";
import type { Verdicts } from "./verdicts.ts";
import { elementTexts, isObject, memberSpans, parseJson, replaceSpan } from "../core/rpc.ts";

/** Stands for a tool's name where something was found in a server's instructions. */
export const INSTRUCTIONS = "(instructions)";
/** Servers can list other texts each time; no more of them is remembered. */
const MAX_TEXTS = 2_000;

interface SeenText {
  /** Only where something was found in it, but for instructions. */
  text: string;
  fingerprint: string;
  findings: readonly Finding[];
}

interface FlaggedText extends SeenText {
  /** `(instructions)`, `(prompt) NAME`, `(resource) URI` or `(skill) URI`. */
  subject: string;
  isQuarantined: boolean;
}

const KINDS = {
  prompts: "prompt",
  resources: "resource",
  resourceTemplates: "resource",
  skills: "skill",
} as const;

/** Lists other than that of tools, as the protocol calls their members. */
type ListKind = keyof typeof KINDS;

const Entry = z.looseObject({ name: z.string(), uri: z.string(), uriTemplate: z.string() })
  .partial();

/** Looks at what a server says besides its tools: its instructions, prompts and resources. */
export class TextScreen {
  readonly #verdicts: Pick<Verdicts, "scanText" | "verdict">;
  readonly #guard: Pick<ToolGuard, "open" | "rulesOf">;
  readonly #seen = new Map<string, Map<string, SeenText>>();

  constructor(
    verdicts: Pick<Verdicts, "scanText" | "verdict">,
    guard: Pick<ToolGuard, "open" | "rulesOf">,
  ) {
    this.#verdicts = verdicts;
    this.#guard = guard;
  }

  /** Why a description that somebody wrote must not be shown to models; undefined where it may. */
  async problemOf(server: string, description: string): Promise<string | undefined> {
    const fingerprint = createHash("sha256").update(description).digest("hex");
    const findings = await this.#verdicts.scanText(server, "description", description, {
      fingerprint,
      isKept: false,
    });
    if (this.#verdicts.verdict(findings) !== "quarantine") return undefined;
    return findings.find(({ severity }) => severity === "high")?.why;
  }

  /** A server's instructions as they may be passed on: undefined where they may not. */
  async instructions(server: string, text: string | undefined): Promise<string | undefined> {
    if (text === undefined) this.#seen.get(server)?.delete(INSTRUCTIONS);
    if (text === undefined || text.trim() === "") return text;
    return await this.#shown(server, INSTRUCTIONS, "instructions", text);
  }

  /** The result of a list request without the entries and passages that no client should read. */
  async list(server: string, kind: ListKind, result: string): Promise<string> {
    const span = memberSpans(result).get(kind);
    if (!span) return result;
    const texts = elementTexts(result.slice(span.start, span.end));
    const shown: string[] = [];
    for (const text of texts) {
      const { name, uri, uriTemplate } = Entry.safeParse(JSON.parse(text)).data ?? {};
      const subject = `(${KINDS[kind]}) ${uri ?? uriTemplate ?? name ?? ""}`;
      const rest = await this.#shown(server, subject, KINDS[kind], text);
      if (rest !== undefined) shown.push(rest);
    }
    return shown.length === texts.length && shown.every((text, index) => text === texts[index])
      ? result
      : replaceSpan(result, span, `[${shown.join(",")}]`);
  }

  found(server: string): FlaggedText[] {
    return Array.from(this.#seen.get(server) ?? []).flatMap(([subject, seen]): FlaggedText[] => {
      const findings = this.#open(server, subject, seen);
      const verdict = this.#verdictOf(server, findings);
      if (verdict === "clean") return [];
      return [{ ...seen, subject, findings, isQuarantined: verdict === "quarantine" }];
    });
  }

  servers(): string[] {
    return [...this.#seen.keys()];
  }

  forget(server: string): void {
    this.#seen.delete(server);
  }

  /** The rules are others: looks at the instructions again, and at the rest when it is next listed. */
  async renew(server: string): Promise<void> {
    const known = this.#seen.get(server)?.get(INSTRUCTIONS);
    this.forget(server);
    await this.instructions(server, known?.text);
  }

  /** The text without the passages that were found, or undefined if nobody should read it. */
  async #shown(
    server: string,
    subject: string,
    where: string,
    text: string,
  ): Promise<string | undefined> {
    // Before the scan: of two at once neither loses what the other finds.
    const texts = getOrMake(this.#seen, server, () => new Map());
    const fingerprint = createHash("sha256").update(text).digest("hex").slice(0, 32);
    const entry = parseJson(text);
    let seen = texts.get(subject);
    if (seen?.fingerprint !== fingerprint) {
      const scanned = isObject(entry) ? entry : text;
      const findings = await this.#verdicts.scanText(server, where, scanned, {
        fingerprint,
        isKept: subject === INSTRUCTIONS,
      });
      const isKept = findings.length > 0 || subject === INSTRUCTIONS;
      seen = { text: isKept ? text : "", fingerprint, findings };
      // Where the server was forgotten meanwhile, these texts are nobody's.
      if (texts.size < MAX_TEXTS || texts.has(subject)) texts.set(subject, seen);
    }
    const findings = this.#open(server, subject, seen);
    switch (this.#verdictOf(server, findings)) {
      case "clean":
        return text;
      case "quarantine":
        return undefined;
      case "warn":
        return isObject(entry)
          ? JSON.stringify(takeOut(entry, findings))
          : withoutSpans(text, findings) || undefined;
    }
  }

  #verdictOf(server: string, findings: readonly Finding[]) {
    const trust = this.#guard.rulesOf(server)?.trust;
    return admission(this.#verdicts.verdict(findings), trust, findings);
  }

  #open(server: string, name: string, { fingerprint, findings }: SeenText): readonly Finding[] {
    return this.#guard.open(server, { name, fingerprint }, findings);
  }
}

import type { VerdictsRepository } from "../storage/verdicts_repository.ts";
import type { CatalogTool } from "./catalog_tool.ts";
import type { Finding } from "./scan/finding.ts";
import type { Surroundings } from "./scan/scan.ts";
import type { FindingsSource, Verdict } from "./tool_guard.ts";

type Scanner = Pick<
  typeof import("./scan/scan.ts"),
  "scanTool" | "scanText" | "verdictOf"
>;

/** Nobody who waits for an answer shall notice that definitions are looked at. */
const SLICE_MS = 6;
/** A server can list other tools for each client; what was found in them is not kept for ever. */
const MAX_KNOWN = 20_000;
const CLEAN: readonly Finding[] = [];

export interface VerdictsOptions {
  repository: Pick<VerdictsRepository, "find" | "save">;
  /** What a server's tools are judged among. */
  around(server: string): Surroundings;
  /** Another one whenever definitions should be looked at again. */
  stamp(): string;
  onWarning(message: string, details?: object): void;
  /** Loads the scanner; at the first definition that nobody has looked at. */
  load?(): Promise<Scanner>;
}

interface Known {
  stamp: string;
  findings: Map<string, readonly Finding[]>;
  /** What is worth keeping: the list that all clients get, and what stands beside it. */
  listed: ReadonlySet<string>;
  texts: Set<string>;
}

/** What the scanner found in definitions, by fingerprint: looked at once, and away from requests. */
export class Verdicts implements FindingsSource {
  readonly #options: VerdictsOptions;
  readonly #known = new Map<string, Known>();
  #scanner: Scanner | undefined;

  constructor(options: VerdictsOptions) {
    this.#options = options;
  }

  find(server: string, fingerprint: string): readonly Finding[] | undefined {
    return this.#known.get(server)?.findings.get(fingerprint);
  }

  verdict(findings: readonly Finding[]): Verdict {
    if (findings.length === 0) return "clean";
    // Whatever has found something has loaded it; else the strictest view is the safe one.
    return this.#scanner?.verdictOf(findings) ?? "quarantine";
  }

  /** Looks at what nobody has looked at; afterwards find() knows all of them. */
  async prepare(
    server: string,
    tools: readonly CatalogTool[],
    { isWhole }: { isWhole: boolean },
  ): Promise<void> {
    const known = await this.#knownOf(server);
    // What single clients are shown is not worth keeping in place of what all are.
    if (isWhole) known.listed = new Set(tools.map(({ fingerprint }) => fingerprint));
    const missing = tools.filter(({ fingerprint }) => !known.findings.has(fingerprint));
    if (missing.length === 0) return;
    await this.#scan(server, known, missing, tools);
    if (isWhole) await this.#save(server, known);
  }

  /**
   * Looks at all of them again where they were judged among others, or by other rules; answers
   * whether something else was found.
   */
  async renew(server: string, tools: readonly CatalogTool[]): Promise<boolean> {
    const known = await this.#knownOf(server);
    const stamp = this.#options.stamp();
    if (known.stamp === stamp) return false;
    const before = tools.map(({ fingerprint }) => known.findings.get(fingerprint) ?? CLEAN);
    await this.#scan(server, known, tools, tools);
    known.stamp = stamp;
    await this.#save(server, known);
    return tools.some(({ fingerprint }, index) =>
      JSON.stringify(known.findings.get(fingerprint)) !== JSON.stringify(before[index])
    );
  }

  /** What is found in a text that is no definition; where it `isKept`, across starts. */
  async scanText(
    server: string,
    where: string,
    text: string,
    { fingerprint, isKept }: { fingerprint: string; isKept: boolean },
  ): Promise<readonly Finding[]> {
    const known = await this.#knownOf(server);
    const found = known.findings.get(fingerprint);
    if (isKept) known.texts.add(fingerprint);
    if (found) return found;
    const { scanText } = await this.#load();
    const findings = this.#safely(where, () => scanText(where, text, this.#options.around(server)));
    known.findings.set(fingerprint, findings);
    if (isKept) await this.#save(server, known);
    return findings;
  }

  forget(server: string): void {
    this.#known.delete(server);
  }

  async #knownOf(server: string): Promise<Known> {
    const known = this.#known.get(server);
    if (known) return known;
    const kept = await this.#options.repository.find(server).catch(() => undefined);
    const findings = new Map(kept?.clean.map((fingerprint) => [fingerprint, CLEAN]));
    if (kept && kept.found.length > 0) {
      await this.#load();
      for (const { fingerprint, findings: found } of kept.found) findings.set(fingerprint, found);
    }
    // Somebody else may have read it meanwhile.
    const raced = this.#known.get(server);
    if (raced) return raced;
    const fresh: Known = {
      stamp: kept?.stamp ?? this.#options.stamp(),
      findings,
      listed: new Set(findings.keys()),
      texts: new Set(),
    };
    this.#known.set(server, fresh);
    return fresh;
  }

  async #load(): Promise<Scanner> {
    return this.#scanner ??= await (this.#options.load ?? (() => import("./scan/scan.ts")))();
  }

  async #scan(
    server: string,
    known: Known,
    tools: readonly CatalogTool[],
    all: readonly CatalogTool[],
  ): Promise<void> {
    const { scanTool } = await this.#load();
    const ownTools = new Set(all.map(({ name }) => name));
    const around = { ...this.#options.around(server), ownTools };
    const { findings, listed, texts } = known;
    if (findings.size > MAX_KNOWN) {
      for (const key of findings.keys()) {
        if (!listed.has(key) && !texts.has(key)) findings.delete(key);
      }
    }
    let begun = performance.now();
    for (const { fingerprint, definition } of tools) {
      if (performance.now() - begun > SLICE_MS) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        begun = performance.now();
      }
      findings.set(fingerprint, this.#safely("definition", () => scanTool(definition, around)));
    }
  }

  async #save(server: string, { stamp, findings, listed, texts }: Known): Promise<void> {
    const clean: string[] = [];
    const found: { fingerprint: string; findings: Finding[] }[] = [];
    for (const fingerprint of new Set([...listed, ...texts])) {
      const each = findings.get(fingerprint);
      if (each?.length === 0) clean.push(fingerprint);
      else if (each) found.push({ fingerprint, findings: [...each] });
    }
    await this.#options.repository.save(server, { stamp, clean, found }).catch((error) =>
      this.#options.onWarning("Cannot keep what was found in tools", { server, error })
    );
  }

  /** What cannot be looked at is not safe to show. */
  #safely(where: string, scan: () => Finding[]): readonly Finding[] {
    try {
      const found = scan();
      return found.length === 0 ? CLEAN : found;
    } catch (error) {
      this.#options.onWarning("Cannot look for attacks in a definition", { where, error });
      return [{
        rule: "scan-failed",
        severity: "high",
        where,
        excerpt: "",
        why: "It could not be looked at to the end, which an attacker may have wanted",
      }];
    }
  }
}

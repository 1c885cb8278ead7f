import type { VerdictsRepository } from "../storage/reviews_repository.ts";
import type { CatalogTool } from "../catalog/catalog_tool.ts";
import type { Finding, FindingsSource, ScanVerdict } from "../catalog/tool_guard.ts";
import type { ScanContext, Scanning } from "./scanner/scan.ts";

interface Scanner
  extends Pick<typeof import("./scanner/scan.ts"), "scanEntry" | "scanText" | "verdictOf"> {
  scanningTool(definition: Record<string, unknown>, around: ScanContext): Pick<Scanning, "next">;
}

/** Nobody who waits for an answer shall notice that definitions are looked at. */
const SLICE_MS = 6;
/** A server can list other tools for each client; their findings are not kept forever. */
const MAX_KNOWN = 20_000;
/** Nor are instructions that are others each time. */
const MAX_TEXTS = 100;
const CLEAN: readonly Finding[] = [];

interface VerdictsOptions {
  repository: Pick<VerdictsRepository, "find" | "save">;
  around(server: string): ScanContext;
  /** By what definitions are judged; what other rules found does not count. */
  rules: string;
  /** Another one whenever what they are judged among is. */
  among(): string;
  /** A server lists tools that were judged among others: renew() is to follow. */
  onStale?(): void;
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

  verdict(findings: readonly Finding[]): ScanVerdict {
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
    // Not here: those that they are judged among may not have listed their tools yet.
    if (known.stamp !== this.#stamp()) this.#options.onStale?.();
    const missing = tools.filter(({ fingerprint }) => !known.findings.has(fingerprint));
    if (missing.length === 0) return;
    await this.#scan(server, known, missing, tools);
    if (isWhole) await this.#save(server, known);
  }

  /**
   * Looks at all of them again where they were judged among others, or by other rules: `fresh` where
   * they were not. All else that was found is forgotten then, and looked at when it is next seen.
   */
  async renew(
    server: string,
    tools: readonly CatalogTool[],
  ): Promise<"fresh" | "same" | "other"> {
    const known = await this.#knownOf(server);
    const stamp = this.#stamp();
    if (known.stamp === stamp) return "fresh";
    const old = new Set(known.findings.keys());
    const isOther = await this.#scan(server, known, tools, tools);
    for (const { fingerprint } of tools) old.delete(fingerprint);
    for (const fingerprint of old) known.findings.delete(fingerprint);
    known.texts.clear();
    known.stamp = stamp;
    await this.#save(server, known);
    return isOther || old.size > 0 ? "other" : "same";
  }

  /**
   * Scans a text that is not a definition, or an entry of a list with all its texts; with `isKept`,
   * the findings survive a restart.
   */
  async scanText(
    server: string,
    where: string,
    text: string | Record<string, unknown>,
    { fingerprint, isKept }: { fingerprint: string; isKept: boolean },
  ): Promise<readonly Finding[]> {
    const known = await this.#knownOf(server);
    const found = known.findings.get(fingerprint);
    if (isKept && known.texts.size >= MAX_TEXTS) known.texts.clear();
    if (isKept) known.texts.add(fingerprint);
    if (found) return found;
    const { scanEntry, scanText } = await this.#load();
    const around = this.#options.around(server);
    const findings = this.#safely(
      where,
      () => typeof text === "string" ? scanText(where, text, around) : scanEntry(text, around),
    );
    trim(known);
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
    const valid = kept?.stamp.startsWith(`${this.#options.rules} `) ? kept : undefined;
    const findings = new Map(valid?.clean.map((fingerprint) => [fingerprint, CLEAN]));
    if (valid && valid.found.length > 0) {
      await this.#load();
      for (const { fingerprint, findings: found } of valid.found) findings.set(fingerprint, found);
    }
    // Somebody else may have read it meanwhile.
    const raced = this.#known.get(server);
    if (raced) return raced;
    const fresh: Known = {
      stamp: kept?.stamp ?? this.#stamp(),
      findings,
      listed: new Set(findings.keys()),
      texts: new Set(),
    };
    this.#known.set(server, fresh);
    return fresh;
  }

  #stamp(): string {
    const { rules, among } = this.#options;
    return `${rules} ${among()}`;
  }

  async #load(): Promise<Scanner> {
    return this.#scanner ??= await (this.#options.load ?? (() => import("./scanner/scan.ts")))();
  }

  async #scan(
    server: string,
    known: Known,
    tools: readonly CatalogTool[],
    all: readonly CatalogTool[],
  ): Promise<boolean> {
    const { scanningTool } = await this.#load();
    const listed = this.#options.around(server);
    const names = all.map(({ name }) => name);
    const around = { ...listed, ownTools: new Set([...listed.ownTools ?? [], ...names]) };
    trim(known);
    let isOther = false;
    let begun = performance.now();
    for (const { fingerprint, definition } of tools) {
      if (performance.now() - begun > SLICE_MS) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        begun = performance.now();
      }
      const scanning = scanningTool(definition, around);
      let step = this.#step(scanning);
      // A long definition is read in pieces, between which others have their turn.
      while (!step.done) {
        if (performance.now() - begun > SLICE_MS) {
          await new Promise((resolve) => setTimeout(resolve, 0));
          begun = performance.now();
        }
        step = this.#step(scanning);
      }
      const found = step.value.length === 0 ? CLEAN : step.value;
      const before = known.findings.get(fingerprint) ?? CLEAN;
      isOther ||= found !== before && JSON.stringify(found) !== JSON.stringify(before);
      known.findings.set(fingerprint, found);
    }
    return isOther;
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
      this.#options.onWarning("Cannot save the scanner's findings", { server, error })
    );
  }

  #step(scanning: Pick<Scanning, "next">): { done: boolean; value: readonly Finding[] } {
    let done = true;
    const value = this.#safely("definition", () => {
      const step = scanning.next();
      done = step.done === true;
      return step.value ?? [];
    });
    return { done, value };
  }

  /** What cannot be looked at is not safe to show. */
  #safely(where: string, scan: () => Finding[]): readonly Finding[] {
    try {
      const found = scan();
      return found.length === 0 ? CLEAN : found;
    } catch (error) {
      this.#options.onWarning("Cannot scan a definition", { where, error });
      return [{
        rule: "scan-failed",
        severity: "high",
        where,
        excerpt: "",
        why: "The scan did not finish, which may be an attacker's intent",
      }];
    }
  }
}

function trim({ findings, listed, texts }: Known): void {
  if (findings.size <= MAX_KNOWN) return;
  for (const key of findings.keys()) {
    if (!listed.has(key) && !texts.has(key)) findings.delete(key);
  }
}

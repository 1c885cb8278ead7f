import { createHash } from "node:crypto";
import { ownerOf } from "../core/access.ts";
import type { Client } from "../core/client.ts";
import { getOrMake } from "../core/defined.ts";
import type { LiveTrial, TrialArm } from "../core/live_trial.ts";
import { familyOfClient, type ModelFamily } from "../core/model_family.ts";
import type { PromotedTool } from "../core/optimization.ts";
import { textOf } from "../core/tool_text.ts";
import { type CatalogTool, ownTool, withText } from "./catalog_tool.ts";

/** A promoted text, and who gets it. */
export type ServedText =
  & Pick<PromotedTool, "description" | "parameters" | "family">
  & { trial?: Pick<LiveTrial, "id" | "share"> | undefined };
type Promoted = Pick<PromotedTool, "server" | "toolName"> & ServedText;

/** What decides which of a tool's texts a client gets; the same through all of a session. */
export interface Reader {
  family?: ModelFamily | undefined;
  /** What a live A/B assigns by: the session, or for clients without sessions principal and client. */
  unit?: string | undefined;
}

/** A session in a live A/B. */
export interface TrialUnit {
  trialId: string;
  /** A hash: with a session's id, others could continue it. */
  unit: string;
  arm: TrialArm;
}

interface ServerTexts {
  tools: ReadonlyMap<string, readonly ServedText[]>;
  families: ReadonlySet<ModelFamily>;
  trials: readonly ServedText[];
}

type ShownListener = (units: readonly TrialUnit[]) => void;

/** The promoted descriptions, and which client gets which. */
export class ServedTexts {
  readonly #ownFamilies: Readonly<Record<string, ModelFamily>>;
  readonly #servers = new Map<string, ServerTexts>();
  readonly #shown = new WeakMap<CatalogTool, Map<ServedText | undefined, CatalogTool>>();
  readonly #listeners = new Set<ShownListener>();
  #hasTrials = false;

  constructor(ownFamilies: Readonly<Record<string, ModelFamily>> = {}) {
    this.#ownFamilies = ownFamilies;
  }

  /** The servers whose texts differ from before. */
  set(promotions: readonly Promoted[]): string[] {
    this.#hasTrials = promotions.some(({ trial }) => trial !== undefined);
    const wanted = Map.groupBy(promotions, ({ server }) => server);
    const servers = new Set([...this.#servers.keys(), ...wanted.keys()]);
    return [...servers].filter((server) => {
      const texts = wanted.get(server)?.map(
        ({ toolName, family, trial, ...text }) =>
          [toolName, { ...textOf(text), family, trial }] as const,
      ) ?? [];
      const tools = new Map(
        Array.from(Map.groupBy(texts, ([tool]) => tool), ([tool, own]) => [
          tool,
          own.map(([, text]) => text).sort(byFamily),
        ]),
      );
      const before = this.#servers.get(server)?.tools ?? new Map();
      if (JSON.stringify([...tools]) === JSON.stringify([...before])) return false;
      const all = [...tools.values()].flat();
      if (tools.size === 0) this.#servers.delete(server);
      else {
        this.#servers.set(server, {
          tools,
          families: new Set(all.flatMap(({ family }) => family ?? [])),
          trials: all.filter(({ trial }) => trial),
        });
      }
      return true;
    });
  }

  /** A tool as it is shown where no client is known: with the description promoted for all. */
  applyTo(tool: CatalogTool): CatalogTool {
    const texts = this.#servers.get(tool.server)?.tools.get(tool.name);
    const forAll = texts?.find(({ family }) => family === undefined);
    return forAll ? withText(tool, forAll) : tool;
  }

  readerOf(
    { profile: { clientInfo }, unit }: Pick<Client, "profile" | "unit">,
  ): Reader {
    return { family: familyOfClient(String(clientInfo?.name ?? ""), this.#ownFamilies), unit };
  }

  /** The same for all readers that get the same texts of a server's tools, or of all; usually empty. */
  audienceOf({ family, unit }: Reader, server?: string): string {
    if (this.#servers.size === 0) return "";
    const servers = server === undefined
      ? [...this.#servers.values()]
      : [this.#servers.get(server)].filter((texts) => texts !== undefined);
    const isOwn = family !== undefined && servers.some(({ families }) => families.has(family));
    const others = servers.flatMap(({ trials }) =>
      trials.flatMap(({ trial }) => armOf(trial!, unit) === "other" ? trial!.id : [])
    );
    return isOwn || others.length > 0 ? [isOwn ? family : "", ...others].join(" ") : "";
  }

  /** The tool with the text that a reader gets. */
  shownTo(tool: CatalogTool, reader: Reader): CatalogTool {
    const texts = this.#servers.get(tool.server)?.tools.get(tool.name);
    if (!texts) return tool;
    const { text } = servedText(texts, reader);
    const made = getOrMake(this.#shown, tool, () => new Map<ServedText | undefined, CatalogTool>());
    return getOrMake(made, text, () => {
      const shown = text ? withText(tool, text) : ownTool(tool);
      return shown.text === tool.text && shown.canonical === tool.canonical ? tool : shown;
    });
  }

  /** The live A/B that decides which text of a tool a reader gets. */
  trialOf(
    { server, tool }: { server: string; tool: string },
    reader: Reader,
  ): TrialUnit | undefined {
    const texts = this.#servers.get(server);
    if (!texts || texts.trials.length === 0) return undefined;
    return servedText(texts.tools.get(tool) ?? [], reader).unit;
  }

  /** All that may count a reader's session. */
  trialsOf({ family: own, unit }: Reader): TrialUnit[] {
    if (unit === undefined) return [];
    return [...this.#servers.values()].flatMap(({ trials }) =>
      trials.flatMap(({ family, trial }) =>
        trial && (family === undefined || family === own) ? unitIn(trial, unit) : []
      )
    );
  }

  get hasTrials(): boolean {
    return this.#hasTrials;
  }

  /** Notes that a reader has been shown these tools, for live A/B. */
  noteShown(tools: Iterable<CatalogTool>, reader: Reader): void {
    if (this.#listeners.size === 0 || !this.hasTrials) return;
    const units = [...tools].flatMap(({ server, name }) =>
      this.trialOf({ server, tool: name }, reader) ?? []
    );
    if (units.length === 0) return;
    for (const listener of [...this.#listeners]) listener(units);
  }

  onShown(listener: ShownListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Those for a family come first. */
function byFamily(one: ServedText, other: ServedText): number {
  return Number(one.family === undefined) - Number(other.family === undefined);
}

/** A family's own text, else the text for all; without either, the server's own. */
function servedText(
  texts: readonly ServedText[],
  reader: Reader,
): { text?: ServedText; unit?: TrialUnit } {
  let unit: TrialUnit | undefined;
  for (const text of texts) {
    if (text.family !== undefined && text.family !== reader.family) continue;
    const { trial } = text;
    if (!trial) return unit ? { text, unit } : { text };
    const arm = armOf(trial, reader.unit);
    if (!unit && reader.unit !== undefined) {
      unit = unitIn(trial, reader.unit);
    }
    if (arm === "promoted") return unit ? { text, unit } : { text };
  }
  return unit ? { unit } : {};
}

/**
 * Which arm a session is in: a hash decides, so that every gateway comes to the same, at any time.
 * Nothing that a session does has an influence, and a trial's id makes each draw independent.
 */
export function armOf(
  { id, share }: Pick<LiveTrial, "id" | "share">,
  unit: string | undefined,
): TrialArm {
  if (unit === undefined) return "promoted";
  const drawn = createHash("sha256").update(JSON.stringify([id, unit])).digest().readUInt32BE();
  return drawn / 2 ** 32 < share / 100 ? "promoted" : "other";
}

function unitIn(trial: Pick<LiveTrial, "id" | "share">, unit: string): TrialUnit {
  const text = JSON.stringify(["live trial", trial.id, unit]);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 20);
  return { trialId: trial.id, unit: hash, arm: armOf(trial, unit) };
}

/** Of a client without sessions: all requests of a person's clients of one kind are one unit. */
export function statelessUnit(
  { principal, profile: { clientInfo } }: Pick<Client, "principal" | "profile">,
): string {
  return JSON.stringify([ownerOf(principal), clientInfo?.name ?? "", clientInfo?.version ?? ""]);
}

import type {
  CanonicalToolsRepository,
  RecordedTool,
} from "../storage/canonical_tools_repository.ts";
import {
  type ChangeNotice,
  noReviews,
  type PinnedTool,
  type PinsRepository,
  type ReviewsRepository,
  type ServerPins,
  type ServerReviews,
} from "../storage/reviews_repository.ts";
import {
  type CatalogTool,
  isBroken,
  isUsable,
  readTool,
  sentText,
} from "../catalog/catalog_tool.ts";
import {
  findRenames,
  type HeldTool,
  type Pin,
  type ReviewRules,
  type ToolGuard,
  waiverKey,
} from "../catalog/tool_guard.ts";
import type { ChangePolicy, ServerTrust } from "../core/server.ts";
import { inTurn } from "../core/async.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Verdicts } from "./verdicts.ts";

const TRIES = 8;

interface ReviewStateOptions {
  pins: PinsRepository;
  reviews: ReviewsRepository;
  canonical: Pick<CanonicalToolsRepository, "list">;
  catalog: Catalog;
  guard: ToolGuard;
  verdicts: Verdicts;
  onWarning(message: string, details?: object): void;
  /** What a server's tools amount to may be another now. */
  onChanged(server: string): void;
  /** A server's tools were looked at again: what it says besides them is to follow. */
  onRenewed?(server: string): Promise<void>;
}

/** What a change makes of a server's records; one that is left out stays. */
export interface ReviewEdit {
  reviews?: ServerReviews;
  pins?: ServerPins;
}

interface Loaded {
  reviews: ServerReviews;
  versionstamp: string;
  /** Those that the policy had use for when they were read. */
  pins: ServerPins | undefined;
}

/** What is pinned and was decided, in step with the store; the guard's rules follow it. */
export class ReviewState {
  readonly #options: ReviewStateOptions;
  readonly #policies = new Map<string, ChangePolicy>();
  #trust: ReadonlyMap<string, ServerTrust> = new Map();
  readonly #loaded = new Map<string, Loaded>();
  /** One after the other, or what was read earlier could be applied later. */
  readonly #inTurn = inTurn();

  constructor(options: ReviewStateOptions) {
    this.#options = options;
  }

  policyOf(server: string): ChangePolicy {
    return this.#policies.get(server) ?? "notify";
  }

  reviewsOf(server: string): ServerReviews {
    return this.#loaded.get(server)?.reviews ?? noReviews(server);
  }

  /** Takes over what each server's policy is, and what is stored. */
  load(
    policies?: ReadonlyMap<string, ChangePolicy>,
    trust?: ReadonlyMap<string, ServerTrust>,
  ): Promise<void> {
    return this.#inTurn(() =>
      this.#load(policies ?? new Map(this.#policies), trust ?? this.#trust)
    );
  }

  async #load(
    policies: ReadonlyMap<string, ChangePolicy>,
    trust: ReadonlyMap<string, ServerTrust>,
  ): Promise<void> {
    const trusted = this.#trust;
    this.#trust = trust;
    const { catalog, guard, onChanged } = this.#options;
    const records = await Array.fromAsync(this.#options.reviews.list());
    const stored = new Map(records.map((record) => [record.value.server, record]));
    // One that is no longer wanted keeps its rules until it is gone: forget() is to follow.
    for (const [server, policy] of policies) {
      const isSamePolicy = policy === this.#policies.get(server) &&
        trust.get(server) === trusted.get(server);
      const record = stored.get(server);
      const known = this.#loaded.get(server);
      if (isSamePolicy && record?.versionstamp === known?.versionstamp) continue;
      let loaded: Loaded | undefined;
      if (record) {
        const { value: reviews, versionstamp } = record;
        const isSamePins = known && isSamePolicy &&
          known.reviews.pinsRevision === reviews.pinsRevision;
        const hasPins = reviews.pinsRevision > 0 && policy !== "allow";
        const pins = isSamePins
          ? known.pins
          : hasPins
          ? (await this.#options.pins.find(server))?.value
          : undefined;
        if (!isSamePins && catalog.snapshot.servers.has(server)) await this.#lookAt(server, pins);
        loaded = { reviews, versionstamp, pins };
      }
      // Together, once all is read: what was taken over in part would count as done the next time.
      this.#policies.set(server, policy);
      if (loaded) this.#loaded.set(server, loaded);
      else this.#loaded.delete(server);
      guard.setRules(server, this.#rulesOf(server));
      catalog.refresh(server);
      onChanged(server);
    }
  }

  /** The server is gone; so is what is being read of it. */
  forget(server: string): void {
    this.#drop(server);
    void this.#inTurn(() => Promise.resolve(this.#drop(server)));
  }

  #drop(server: string): void {
    this.#policies.delete(server);
    this.#loaded.delete(server);
    this.#options.guard.setRules(server, undefined);
    this.#options.verdicts.forget(server);
  }

  /** Before a list is taken: what is seen for the first time is pinned, and all is looked at. */
  async prepare(server: string, texts: string[]): Promise<void> {
    const { catalog, guard, verdicts, onWarning } = this.#options;
    const tools = catalog.parse(server, texts).filter(isUsable);
    try {
      await this.#pinFirst(server, tools);
    } catch (error) {
      // What is not known to be approved is not shown.
      onWarning("Cannot save a server's approved tools: all its tools are held", { server, error });
      guard.setRules(server, { ...this.#rulesOf(server), isWhole: true });
    }
    const pinned = [...guard.rulesOf(server)?.pins.values() ?? []].map(({ tool }) => tool);
    await verdicts.prepare(server, [...tools, ...pinned], { isWhole: true });
  }

  /** Scans the held tools of one client's list, so that the reviewer sees their findings. */
  async lookAtHeld(server: string, held: readonly HeldTool[]): Promise<void> {
    const { verdicts, onChanged, onWarning } = this.#options;
    const tools = held.filter(({ isRejected }) => !isRejected).map(({ listed }) => listed);
    try {
      await verdicts.prepare(server, tools.filter(isUsable), { isWhole: false });
      onChanged(server);
    } catch (error) {
      onWarning("Cannot scan a server's held tools", { server, error });
    }
  }

  /** Keeps what a server has changed just now, until somebody has seen it. */
  async noteChanges(server: string, changed: readonly RecordedTool[], at: number): Promise<void> {
    if (this.policyOf(server) !== "notify" || changed.length === 0) return;
    await this.edit(server, (reviews) => {
      const fresh = changed.filter(({ goneSince, current }) =>
        (goneSince ?? current.seenAt) === at
      );
      const notices = noticesAfter(reviews, fresh, this.#options.guard.rulesOf(server));
      return notices ? { reviews: { ...reviews, notices } } : {};
    });
  }

  /** Changes what is stored of a server, from its newest state, and applies it at once. */
  async edit(
    server: string,
    change: (reviews: ServerReviews, pins: ServerPins) => ReviewEdit,
  ): Promise<void> {
    const { reviews, pins } = this.#options;
    for (let tries = 0; tries < TRIES; tries++) {
      // In this order: pins that change in between make the reviews stale, never the other way.
      const record = await reviews.find(server);
      const kept = await pins.find(server);
      const before = record?.value ?? noReviews(server);
      const edit = change(before, kept?.value ?? noPins(server));
      if (!edit.reviews && !edit.pins) return;
      const version = record?.versionstamp ?? null;
      const isSaved = await reviews.change(edit.reviews ?? before, edit.pins, version);
      if (isSaved) return await this.load();
    }
    throw new GatewayError("CONFLICT", {
      message:
        `Cannot save the decision: others are changing the review of "${server}" at the same time. Try again`,
    });
  }

  /** Looks again at servers whose tools were judged among others, or by other rules. */
  async renew(): Promise<void> {
    const { catalog, verdicts } = this.#options;
    for (const server of [...catalog.snapshot.servers.keys()]) {
      const { tools, quarantined = [] } = catalog.of(server);
      const all = [
        ...tools,
        ...quarantined.map(({ tool }) => tool),
        ...catalog.heldOf(server).map(({ listed }) => listed).filter(isUsable),
      ];
      const renewed = await verdicts.renew(server, all.map(asListed));
      if (renewed === "fresh") continue;
      await this.#options.onRenewed?.(server);
      if (renewed === "same") continue;
      // In any case: it makes clients with lists of their own read them again.
      catalog.republish(server);
      this.#options.onChanged(server);
    }
  }

  /** Removes and returns what is stored of a server, so that it can be restored. */
  async take(server: string): Promise<ReviewEdit> {
    const reviews = await this.#options.reviews.find(server);
    const pins = await this.#options.pins.find(server);
    await this.#options.reviews.removeServer(server);
    return defined({ reviews: reviews?.value, pins: pins?.value });
  }

  /** Brings back what take() took, in place of whatever is there. */
  async putBack(server: string, { reviews, pins }: ReviewEdit): Promise<void> {
    if (!reviews) return;
    await this.edit(server, (known) => ({
      reviews: {
        ...reviews,
        server,
        pinsRevision: Math.max(known.pinsRevision, reviews.pinsRevision),
      },
      pins: pins ?? noPins(server),
    }));
  }

  async #pinFirst(server: string, tools: readonly CatalogTool[]): Promise<void> {
    if (this.policyOf(server) !== "hold" || tools.length === 0) return;
    if (this.#loaded.get(server)?.pins?.isWhole) return;
    // Where it was not held before, what it listed last is what clients know.
    const known = await this.#options.canonical.list(server);
    const served = known.filter(({ goneSince }) => goneSince === undefined)
      .map(({ name, current }) => ({ ...current, name }));
    const first = served.length > 0 ? served : tools;
    await this.edit(server, (_, pins) => {
      if (pins.isWhole) return {};
      const kept = new Set(pins.tools.map(({ name }) => name));
      const fresh = first.filter(({ name }) => !kept.has(name))
        .map(({ name, text, fingerprint }) => ({ name, text, fingerprint, pinnedAt: Date.now() }));
      return { pins: { server, isWhole: true, tools: [...pins.tools, ...fresh] } };
    });
    // Another gateway may have been first.
    if (!this.#loaded.get(server)?.pins?.isWhole) await this.load();
  }

  /** What is served from here on is looked at first, or it would be gone from lists for a moment. */
  async #lookAt(server: string, pins: ServerPins | undefined): Promise<void> {
    const { verdicts, onWarning } = this.#options;
    const tools = pins?.tools.flatMap((pin) => pinned(server, pin)).map(([, { tool }]) => tool);
    await verdicts.prepare(server, tools ?? [], { isWhole: false }).catch((error) =>
      onWarning("Cannot scan a server's approved tools", { server, error })
    );
  }

  #rulesOf(server: string): ReviewRules {
    const policy = this.policyOf(server);
    const { rejected, waivers } = this.reviewsOf(server);
    const pins = this.#loaded.get(server)?.pins;
    const byTool = Map.groupBy(rejected, ({ tool }) => tool);
    return {
      policy,
      trust: this.#trust.get(server) ?? "normal",
      isWhole: pins?.isWhole ?? false,
      pins: new Map(
        pins?.tools.flatMap((pin) => policy === "hold" || pin.isKept ? pinned(server, pin) : []),
      ),
      rejected: new Map(Array.from(byTool, ([tool, list]) => [
        tool,
        new Set(list.map(({ fingerprint }) => fingerprint)),
      ])),
      hidden: new Set(rejected.filter(({ isHidden }) => isHidden).map(({ tool }) => tool)),
      waived: new Set(
        waivers.map(({ tool, rule, passage, fingerprint }) =>
          waiverKey(tool, rule, passage ?? fingerprint)
        ),
      ),
    };
  }
}

function noPins(server: string): ServerPins {
  return { server, isWhole: false, tools: [] };
}

function pinned(server: string, { name, text, isKept }: PinnedTool): [string, Pin][] {
  const tool = readTool(server, text, 0);
  return isBroken(tool) ? [] : [[name, { tool, isKept: isKept === true }]];
}

/** A definition as its server has it: a promoted description is ours, and not looked at. */
function asListed(tool: CatalogTool): CatalogTool {
  if (tool.canonical === undefined && tool.sent === undefined) return tool;
  const listed = readTool(tool.server, sentText(tool), 0);
  return isBroken(listed) ? tool : listed;
}

/** What somebody should see after these changes of a server's tools; undefined: nothing more. */
function noticesAfter(
  { server, notices }: ServerReviews,
  changed: readonly RecordedTool[],
  rules: ReviewRules | undefined,
): ChangeNotice[] | undefined {
  const went = changed.filter(({ goneSince }) => goneSince !== undefined);
  const came = changed.filter(({ goneSince }) => goneSince === undefined);
  const read = (tools: readonly RecordedTool[]) =>
    tools.map(({ current }) => readTool(server, current.text, 0)).filter(isUsable);
  const renames = findRenames(read(came.filter(({ version }) => version === 1)), read(went));
  const before = new Map(went.map((tool) => [tool.name, tool.current]));
  const known = new Map(notices.map((notice) => [notice.tool, notice]));
  let isChanged = false;
  for (const tool of came) {
    const { name, version, current: { text, fingerprint, seenAt }, earlier } = tool;
    // What is held anyway waits for a decision by itself.
    if (rules?.pins.has(name) || rules?.hidden.has(name)) continue;
    const from = renames.get(name);
    const old = known.get(name);
    const last = old ? old.before : version > 1 ? earlier[0] : from && before.get(from);
    if (old?.fingerprint === fingerprint) continue;
    isChanged = true;
    if (last && last.fingerprint === fingerprint) known.delete(name);
    else {
      const before = last ? { text: last.text, fingerprint: last.fingerprint } : undefined;
      const seen = { tool: name, text, fingerprint, at: seenAt };
      known.set(name, { ...seen, ...defined({ from, before }) });
    }
  }
  return isChanged ? [...known.values()] : undefined;
}

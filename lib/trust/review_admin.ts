import { isBroken } from "../catalog/catalog_tool.ts";
import type { ReviewEdit } from "./review_state.ts";
import type { Finding, HeldTool } from "../catalog/tool_guard.ts";
import type { AuditActor, OnAudit } from "../core/access.ts";
import { defined } from "../core/defined.ts";
import { GatewayError } from "../core/errors.ts";
import { retryStale } from "../core/async.ts";
import {
  type ChangePolicy,
  changePolicy,
  type ServerSpec,
  type ServerTrust,
} from "../core/server.ts";
import type { PooledServer } from "../servers/server.ts";
import type { CanonicalToolsRepository } from "../storage/canonical_tools_repository.ts";
import type {
  ChangeNotice,
  PinnedTool,
  PinsRepository,
  ServerPins,
  ServerReviews,
  Waiver,
} from "../storage/reviews_repository.ts";
import {
  collectItems,
  decisionsOf,
  inDetail,
  type ItemSources,
  type RawItem,
  type ReviewDecision,
  type ReviewItem,
  type ReviewList,
  type ReviewPolicy,
} from "./review_items.ts";

/** Who decided if nobody else is named. */
const DEFAULT_REVIEWER = "owner";
const MAX_ITEMS = 200;
const MAX_DECISIONS = 50;

/** The servers' entries: a server's policy is part of its entry. */
interface ServerEntries {
  /** Throws if there is no such server. */
  describe(name: string): unknown;
  read(name: string): Promise<{ spec: ServerSpec; version?: string }>;
  /** Throws CONFLICT if the entry is no longer at `version`. */
  update(
    name: string,
    spec: ServerSpec,
    options: { version?: string | undefined; isNoted: boolean },
  ): Promise<unknown>;
}

interface ReviewAdminOptions extends ItemSources {
  pins: PinsRepository;
  canonical: CanonicalToolsRepository;
  servers(): readonly PooledServer[];
  admin: ServerEntries;
  onAudit?: OnAudit | undefined;
}

/** Names one definition of one tool, so that nobody approves what he has not seen. */
interface ReviewSubject {
  server: string;
  tool: string;
  fingerprint: string;
}

/** What waits for a person, and what that person can do about it. */
export class ReviewAdmin {
  readonly #options: ReviewAdminOptions;

  constructor(options: ReviewAdminOptions) {
    this.#options = options;
  }

  /** Everything that waits, or what is about one server: the most pressing first, a long list cut. */
  list(server?: string): ReviewList {
    const items = this.#open(server);
    return {
      items: items.slice(0, MAX_ITEMS).map(inDetail),
      more: Math.max(0, items.length - MAX_ITEMS),
    };
  }

  /** All of what waits, not compared yet: that takes time. */
  waiting(server?: string): RawItem[] {
    return this.#open(server);
  }

  /** How many things wait; cheap enough for every page. */
  count() {
    const counts = { held: 0, notices: 0, quarantined: 0, flagged: 0, total: 0 };
    for (const { state } of this.#open()) {
      counts[state === "notice" ? "notices" : state]++;
      counts.total++;
    }
    return counts;
  }

  /** What there is about one tool, what was turned down too. */
  show(server: string, tool: string): ReviewItem[] {
    this.#options.admin.describe(server);
    return this.#items(server).filter((item) => item.tool === tool).map(inDetail);
  }

  async decisions(): Promise<ReviewDecision[]> {
    const { servers, book, pins } = this.#options;
    const all = await Promise.all(
      servers().map(async ({ name }) => {
        const reviews = book.reviewsOf(name);
        const kept = reviews.pinsRevision > 0 ? await pins.find(name) : undefined;
        return decisionsOf(reviews, kept?.value);
      }),
    );
    return all.flat().sort((a, b) => b.at - a.at).slice(0, MAX_DECISIONS);
  }

  policies(): ReviewPolicy[] {
    return this.#options.servers().map(({ name, spec, source }) => ({
      server: name,
      policy: changePolicy(spec),
      trust: spec.trust ?? "normal",
      isEditable: source.kind === "store",
    }));
  }

  async setPolicy(
    server: string,
    wanted: { changes?: ChangePolicy | undefined; trust?: ServerTrust | undefined },
    by: AuditActor = {},
  ): Promise<ReviewPolicy> {
    const { admin } = this.#options;
    admin.describe(server);
    const before = this.#policyOf(server);
    await retryStale(async () => {
      const { spec, version } = await admin.read(server);
      const { changes = spec.changes, trust = spec.trust } = wanted;
      const changed = { ...spec, ...defined({ changes, trust }) };
      // The policy is noted below.
      await admin.update(server, changed, { version, isNoted: false });
    });
    const after = this.#policyOf(server);
    this.#audit("review.policy", server, by, before, after);
    return after;
  }

  /** Takes a change and serves it from here on; of what was passed on, says that it was seen. */
  async approve(subject: ReviewSubject, by: AuditActor = {}): Promise<void> {
    const { server, tool, fingerprint } = subject;
    const { held } = this.#waiting(subject);
    const { book, catalog } = this.#options;
    // What only a single client is listed in the place of a tool takes that from nobody else.
    const from = held && catalog.reviewOf(server).held?.includes(held) ? held.from : undefined;
    await this.#edit(server, (reviews, pins) => {
      const decided = {
        reviews: {
          ...reviews,
          notices: reviews.notices.filter((notice) => notice.tool !== tool),
          rejected: reviews.rejected.filter((each) => each.tool !== tool),
        },
      };
      if (!held) return decided;
      const old = pins.tools.find(({ name }) => name === tool);
      const others = pins.tools.filter(({ name }) => name !== tool && name !== from);
      const pin: PinnedTool = {
        name: tool,
        text: held.listed.text,
        fingerprint,
        pinnedAt: Date.now(),
        by: by.principal ?? DEFAULT_REVIEWER,
        ...(old ? { before: { text: old.text, fingerprint: old.fingerprint } } : {}),
      };
      // Unless changes are held, the tool follows its server again.
      const tools = book.policyOf(server) === "hold" ? [...others, pin] : others;
      return { ...decided, pins: { ...pins, tools } };
    });
    this.#audit("review.approve", `${server}.${tool}`, by, held?.pinned?.fingerprint, fingerprint);
  }

  /** Serves what was served before, and does not ask about this definition again. */
  async reject(subject: ReviewSubject, by: AuditActor = {}): Promise<void> {
    const { server, tool, fingerprint } = subject;
    const { held, notice } = this.#waiting(subject);
    const keep = held || notice?.from !== undefined ? undefined : notice?.before;
    await this.#turnDown(subject, keep, !held?.pinned && !keep, by);
    const served = held?.pinned ?? keep;
    this.#audit("review.reject", `${server}.${tool}`, by, fingerprint, served?.fingerprint);
  }

  /** Serves the version before the last one again, and holds what the server lists. */
  async revert(server: string, tool: string, by: AuditActor = {}): Promise<void> {
    this.#options.admin.describe(server);
    const { canonical, pins, book } = this.#options;
    const pin = (await pins.find(server))?.value.tools.find(({ name }) => name === tool);
    const notice = book.reviewsOf(server).notices.find((notice) => notice.tool === tool);
    const [kept] = (await canonical.history(server, tool)).tools;
    const wasAdded = pin ? pin.by !== undefined && !pin.before : notice && !notice.before ||
      notice?.from !== undefined;
    const before = wasAdded ? undefined : pin ? pin.before : notice?.before ?? kept?.earlier[0];
    if (!before && !wasAdded) {
      throw new GatewayError("NOT_FOUND", {
        message: `There is no earlier version of "${tool.slice(0, 100)}" of "${server}"`,
        recoverySteps: ["Disable the tool on its server's page instead"],
      });
    }
    const fingerprint = pin?.fingerprint ?? notice?.fingerprint ?? kept?.current.fingerprint ?? "";
    const keep = before && { text: before.text, fingerprint: before.fingerprint };
    await this.#turnDown({ server, tool, fingerprint }, keep, !keep, by);
    this.#audit("review.revert", `${server}.${tool}`, by, fingerprint, keep?.fingerprint);
  }

  /**
   * Dismisses a passage that a rule found, or all of that rule in this definition. Clients get it
   * from here on, also if something else in the definition changes.
   */
  async waive(
    { server, tool, fingerprint, rule, passage, reason }: ReviewSubject & {
      rule: string;
      passage?: string | undefined;
      reason: string;
    },
    by: AuditActor = {},
  ): Promise<void> {
    const isMeant = (finding: Finding) =>
      finding.rule === rule && (passage === undefined || finding.passage === passage);
    // A change that is held can be found out by the rule that keeps what is served in quarantine.
    const found = this.#items(server).filter((item) =>
      item.tool === tool && item.findings.some(isMeant)
    );
    const item = found.find((item) => item.fingerprint === fingerprint) ?? found[0];
    if (!item) {
      throw new GatewayError("NOT_FOUND", {
        message: `Rule "${rule.slice(0, 100)}" has no finding ` +
          `${passage === undefined ? "" : "with this passage "}in "${tool}" of "${server}"`,
        recoverySteps: ["See all findings with `quartermaster review list`"],
      });
    }
    this.#checkSame({ server, tool, fingerprint }, item.fingerprint);
    const given = reason.trim();
    if (given === "" || given.length > 500) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "To waive a finding, give a reason of 1 to 500 characters",
      });
    }
    const waiver = {
      tool,
      rule,
      fingerprint,
      reason: given,
      at: Date.now(),
      by: by.principal ?? DEFAULT_REVIEWER,
    };
    const passages = new Set(item.findings.filter(isMeant).map(({ passage }) => passage));
    await this.#edit(server, (reviews) => {
      const others = reviews.waivers.filter((each) =>
        each.tool !== tool || each.rule !== rule || !passages.has(each.passage)
      );
      const fresh = Array.from(passages, (passage) => ({ ...waiver, ...defined({ passage }) }));
      return { reviews: { ...reviews, waivers: [...others, ...fresh] } };
    });
    const dismissed = { rule, passages: [...passages], reason: given };
    this.#audit("review.waive", `${server}.${tool}`, by, undefined, dismissed);
  }

  async unwaive(server: string, tool: string, rule: string, by: AuditActor = {}): Promise<void> {
    let taken: Waiver[] = [];
    await this.#edit(server, (reviews) => {
      const isOther = (waiver: Waiver) => waiver.tool !== tool || waiver.rule !== rule;
      taken = reviews.waivers.filter((waiver) => !isOther(waiver));
      return { reviews: { ...reviews, waivers: reviews.waivers.filter(isOther) } };
    });
    const reason = taken.at(-1)?.reason;
    // Nothing was taken back where there was nothing.
    if (reason === undefined) return;
    const passages = taken.flatMap(({ passage }) => passage ?? []);
    this.#audit("review.unwaive", `${server}.${tool}`, by, { rule, reason, passages });
  }

  async #edit(
    server: string,
    change: (reviews: ServerReviews, pins: ServerPins) => ReviewEdit,
  ): Promise<void> {
    this.#options.admin.describe(server);
    await this.#options.book.edit(server, change);
  }

  /** Does not serve a definition, and does not ask about it again; `keep` is served in its place. */
  #turnDown(
    { server, tool, fingerprint }: ReviewSubject,
    keep: { text: string; fingerprint: string } | undefined,
    /** There is nothing to serve in its place: no version of it is shown. */
    isHidden: boolean,
    { principal: by = DEFAULT_REVIEWER }: AuditActor,
  ): Promise<void> {
    const at = Date.now();
    return this.#edit(server, (reviews, pins) => {
      const others = pins.tools.filter(({ name }) => name !== tool);
      const isPinned = others.length < pins.tools.length;
      const kept = keep ? [{ name: tool, ...keep, pinnedAt: at, by, isKept: true }] : [];
      const rejected = reviews.rejected.filter((each) =>
        each.tool !== tool ||
        (each.fingerprint !== fingerprint && each.fingerprint !== keep?.fingerprint)
      );
      return {
        reviews: {
          ...reviews,
          notices: reviews.notices.filter((notice) => notice.tool !== tool),
          rejected: [...rejected, { tool, fingerprint, ...(isHidden ? { isHidden } : {}), at, by }],
        },
        ...(keep || (isHidden && isPinned)
          ? { pins: { ...pins, tools: [...others, ...kept] } }
          : {}),
      };
    });
  }

  /** What waits about a tool, where it is what the caller has seen. */
  #waiting(subject: ReviewSubject): { held?: HeldTool; notice?: ChangeNotice } {
    const { server, tool } = subject;
    this.#options.admin.describe(server);
    // Clients can be listed several versions of one tool; none of them is the one that was seen
    // where it has changed since.
    const versions = this.#options.catalog.heldOf(server).filter(({ name }) => name === tool);
    const held =
      versions.find(({ listed }) =>
        !isBroken(listed) && listed.fingerprint === subject.fingerprint
      ) ?? versions[0];
    if (held && !isBroken(held.listed)) {
      this.#checkSame(subject, held.listed.fingerprint);
      return { held };
    }
    if (held) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message:
          `Cannot decide on "${tool}" of "${server}": the listed definition is not a valid tool`,
        recoverySteps: [
          "Wait until the server lists a valid definition; until then the tool is held",
        ],
      });
    }
    const notice = this.#options.book.reviewsOf(server).notices.find((each) => each.tool === tool);
    if (!notice) {
      throw new GatewayError("NOT_FOUND", {
        message: `Nothing about "${tool.slice(0, 100)}" of "${server}" is waiting for a decision`,
        recoverySteps: ["See what is waiting with `quartermaster review list`"],
      });
    }
    this.#checkSame(subject, notice.fingerprint);
    return { notice };
  }

  /** Without what was turned down. */
  #open(server?: string) {
    return this.#items(server).flatMap((item) => {
      const { state } = item;
      return state === "rejected" ? [] : [{ ...item, state }];
    });
  }

  #items(server?: string): RawItem[] {
    const names = server === undefined ? this.#options.servers().map(({ name }) => name) : [server];
    return collectItems(names, this.#options);
  }

  #policyOf(server: string): ReviewPolicy {
    const found = this.policies().find((policy) => policy.server === server);
    if (found) return found;
    throw new GatewayError("SERVER_NOT_FOUND");
  }

  #checkSame({ server, tool, fingerprint }: ReviewSubject, current: string): void {
    if (fingerprint === current) return;
    throw new GatewayError("CONFLICT", {
      message: `"${tool}" of "${server}" has changed again since you reviewed it`,
      recoverySteps: ["Review the new version, then decide"],
    });
  }

  #audit(action: string, subject: string, by: AuditActor, before?: unknown, after?: unknown): void {
    this.#options.onAudit?.({ action, subject, ...by, ...defined({ before, after }) });
  }
}

import { createHash } from "node:crypto";
import { ChangeNotifier } from "../core/change_notifier.ts";
import { type ClientProfile, isStateless } from "../core/client.ts";
import { notificationText } from "../core/rpc.ts";
import { olderToolList } from "./older_output.ts";
import type { Session } from "./session.ts";

/** Between two announcements to one client: no more than two in any second. */
const ANNOUNCE_MS = 550;
/** Between two comparisons of all clients' lists: while servers start, the catalog changes often. */
const CHECK_MS = 250;

const KINDS = ["tools", "resources", "prompts"] as const;
type ListKind = (typeof KINDS)[number];

/** The result of tools/list with a digest, computed once. */
export class ListText {
  readonly text: string;
  #older: string | undefined;
  #digest: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get digest(): string {
    return this.#digest ??= createHash("sha1").update(this.text).digest("base64");
  }

  /** The text that a client gets: older ones refuse some tools' output schemas. */
  textFor(profile: ClientProfile): string {
    return isStateless(profile) ? this.text : this.#older ??= olderToolList(this.text);
  }

  /** The list with this text: the known one, if its text is the same. */
  static of(text: string, known: ListText | undefined): ListText {
    return known?.text === text ? known : new ListText(text);
  }
}

/** What a client would be listed now: texts that differ whenever the lists may. */
export type ListVersions = Record<ListKind, string>;

/** What one client was last listed, against what it would be listed now. */
export class ClientLists {
  readonly #current: () => ListVersions;
  readonly #listed: ListVersions;
  readonly #announced: Partial<ListVersions> = {};
  /** Whether the client's list is unknown; it is then assumed to be current after each announcement. */
  readonly #isAssumed: boolean;

  constructor(current: () => ListVersions, listed?: ListVersions) {
    this.#current = current;
    // A client knows nothing older than the moment it connected.
    this.#listed = { ...listed ?? current() };
    this.#isAssumed = listed !== undefined;
  }

  /** For one listener of several: it knows what was listed so far, and then what it is told. */
  follow(): ClientLists {
    return new ClientLists(this.#current, this.#listed);
  }

  noteListed(kind: ListKind, version = this.#current()[kind]): void {
    this.#listed[kind] = version;
    delete this.#announced[kind];
  }

  /** The lists to announce: each change once, and none that the client already has. */
  takeChanges(): ListKind[] {
    const now = this.#current();
    return KINDS.filter((kind) => {
      if (now[kind] === this.#listed[kind]) {
        delete this.#announced[kind];
        return false;
      }
      if (now[kind] === this.#announced[kind]) return false;
      if (this.#isAssumed) this.#listed[kind] = now[kind];
      else this.#announced[kind] = now[kind];
      return true;
    });
  }
}

export type ListeningSession = Pick<Session, "lists" | "push">;

interface ListChangesOptions {
  sessions(): Iterable<ListeningSession>;
  onCheck?(): void;
}

/** Announces lists that differ from what the client was last listed, at most two a second. */
export class ListChanges implements Disposable {
  readonly #options: ListChangesOptions;
  readonly #checks = new ChangeNotifier(() => this.#checkAll(), CHECK_MS);
  readonly #paused = new Map<ListeningSession, ReturnType<typeof setTimeout>>();

  constructor(options: ListChangesOptions) {
    this.#options = options;
  }

  check(): void {
    this.#checks.changed("");
  }

  [Symbol.dispose](): void {
    this.#checks[Symbol.dispose]();
    for (const timer of this.#paused.values()) clearTimeout(timer);
    this.#paused.clear();
  }

  #checkAll(): void {
    this.#options.onCheck?.();
    for (const session of this.#options.sessions()) {
      if (!this.#paused.has(session)) this.#announce(session);
    }
  }

  #announce(session: ListeningSession): void {
    const changed = new Set<ListKind>();
    for (const lists of session.lists()) {
      for (const kind of lists.takeChanges()) changed.add(kind);
    }
    if (changed.size === 0) return;
    for (const kind of changed) {
      session.push(notificationText(`notifications/${kind}/list_changed`));
    }
    const timer = setTimeout(() => {
      this.#paused.delete(session);
      this.#announce(session);
    }, ANNOUNCE_MS);
    this.#paused.set(session, timer);
  }
}

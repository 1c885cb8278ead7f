import { notificationText } from "../core/rpc.ts";
import type { CombinedSurface } from "../surfaces/combined_surface.ts";
import { ChangeNotifier } from "./change_notifier.ts";

const TOOLS = notificationText("notifications/tools/list_changed");
const OTHERS = [
  notificationText("notifications/resources/list_changed"),
  notificationText("notifications/prompts/list_changed"),
];

/** A client at a door, as far as lists go. */
export interface Listener {
  door: string;
  principal: string;
  push(text: string): void;
}

/** The clients of one door that see the same. */
interface Audience {
  door: string;
  principal: string;
  surface: CombinedSurface;
  sessions: Listener[];
}

export interface ListAnnouncerOptions {
  sessions(): Iterable<Listener>;
  /** The surface of a door, where it is one whose lists depend on many servers. */
  findSurface(door: string): CombinedSurface | undefined;
  /** Called when lists are looked at again. */
  onCheck(): void;
}

/** Tells clients of combined doors that their lists are others now: when they are, and not too often. */
export class ListAnnouncer implements Disposable {
  readonly #options: ListAnnouncerOptions;
  readonly #checks = new ChangeNotifier(() => this.#check());
  readonly #news = new ChangeNotifier((subject) => this.#tell(subject));

  constructor(options: ListAnnouncerOptions) {
    this.#options = options;
  }

  /** Something happened that may change lists: they are looked at again. */
  check(): void {
    this.#checks.changed("");
  }

  /** What these clients see has changed. */
  changed(isConcerned: (door: string, principal: string) => boolean): void {
    for (const { door, principal } of this.#audiences()) {
      if (isConcerned(door, principal)) this.#news.changed(subjectOf(door, principal));
    }
  }

  [Symbol.dispose](): void {
    this.#checks[Symbol.dispose]();
    this.#news[Symbol.dispose]();
  }

  #check(): void {
    this.#options.onCheck();
    for (const { door, principal, surface } of this.#audiences()) {
      const { tools, others } = surface.changes(principal);
      if (tools || others) this.#news.changed(subjectOf(door, principal));
    }
  }

  #tell(subject: string): void {
    const audience = this.#audiences().find(({ door, principal }) =>
      subjectOf(door, principal) === subject
    );
    if (!audience) return;
    const { principal, surface, sessions } = audience;
    const { others } = surface.changes(principal);
    surface.told(principal);
    for (const session of sessions) {
      session.push(TOOLS);
      if (others) { for (const text of OTHERS) session.push(text); }
    }
  }

  #audiences(): Audience[] {
    const found = new Map<string, Audience>();
    for (const session of this.#options.sessions()) {
      const { door, principal } = session;
      const subject = subjectOf(door, principal);
      const known = found.get(subject);
      if (known) {
        known.sessions.push(session);
        continue;
      }
      const surface = this.#options.findSurface(door);
      if (surface) found.set(subject, { door, principal, surface, sessions: [session] });
    }
    return [...found.values()];
  }
}

function subjectOf(door: string, principal: string): string {
  return `${door} ${principal}`;
}

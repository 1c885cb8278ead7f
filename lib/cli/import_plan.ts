import type { ClientServer } from "../config/client_servers.ts";
import { isProgram, isRemote, type ServerSpec } from "../core/server.ts";
import { MASK, maskSpec } from "../servers/spec.ts";

/** A server that some client knows. */
export interface Candidate extends ClientServer {
  /** Whose it is, in words. */
  from: string;
}

/** A server that the gateway has; what is known of its entry is masked. */
export interface Existing {
  name: string;
  spec: ServerSpec;
  /** The config file it belongs to, if to one. */
  file?: string | undefined;
}

export interface Planned {
  candidate: Candidate;
  /** The name it will have here. */
  name: string;
  /** `new` can be taken over; the others are left alone, for the reason given. */
  state: "new" | "present" | "differs" | "self" | "unusable";
  reason: string;
}

/** What can be made of each candidate; nothing that is there is ever replaced. */
export function planImport(
  candidates: readonly Candidate[],
  existing: readonly Existing[],
  renames: ReadonlyMap<string, string> = new Map(),
): Planned[] {
  const plain = new Planner(existing);
  const differing = new Set(
    candidates.map((candidate) => plain.place(candidate, candidate.name))
      .filter(({ state }) => state === "differs").map(({ name }) => name),
  );
  const planner = new Planner(existing);
  return candidates.map((candidate) => {
    const renamed = renames.get(candidate.name);
    if (renamed === undefined) return planner.place(candidate, candidate.name);
    // Of several with one name, those that cannot have it are meant.
    if (differing.has(candidate.name) && planner.canHave(candidate, candidate.name)) {
      return planner.place(candidate, candidate.name);
    }
    return planner.place(candidate, renamed);
  });
}

class Planner {
  readonly #existing: ReadonlyMap<string, Existing>;
  readonly #taken = new Map<string, Candidate>();

  constructor(existing: readonly Existing[]) {
    this.#existing = new Map(existing.map((server) => [server.name, server]));
  }

  canHave(candidate: Candidate, name: string): boolean {
    return this.#judge(candidate, name).state !== "differs";
  }

  place(candidate: Candidate, name: string): Planned {
    const judged = this.#judge(candidate, name);
    if (judged.state === "new") this.#taken.set(name, candidate);
    return { candidate, name, ...judged };
  }

  #judge(candidate: Candidate, name: string): Pick<Planned, "state" | "reason"> {
    if (candidate.isSelf) return { state: "self", reason: "It is this gateway" };
    const existing = this.#existing.get(name);
    if (existing) {
      const isSame = existing.file === candidate.file ||
        textOf(maskSpec(candidate.spec)) === textOf(existing.spec);
      return isSame
        ? { state: "present", reason: "It is here already" }
        : { state: "differs", reason: `Another server is called "${name}" here` };
    }
    if (candidate.problem !== undefined) return { state: "unusable", reason: candidate.problem };
    const taken = this.#taken.get(name);
    if (!taken) return { state: "new", reason: "" };
    return textOf(taken.spec) === textOf(candidate.spec)
      ? { state: "present", reason: `The same as that of ${taken.from}` }
      : { state: "differs", reason: `Another server of ${taken.from} is called "${name}"` };
  }
}

/** An entry in a line that may be shown to anybody. */
export function entryLine({ spec, secrets }: Pick<ClientServer, "spec" | "secrets">): string {
  const shown = maskSpec(spec);
  const line = isProgram(shown)
    ? [shown.command, ...shown.args].map((word) => /\s|^$/.test(word) ? `"${word}"` : word).join(
      " ",
    )
    : isRemote(shown)
    ? shown.url
    : shown.type;
  return withoutSecrets(line, secrets);
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.toSorted((a, b) => b.length - a.length)
    .reduce((clean, secret) => clean.replaceAll(secret, MASK), text);
}

/** The same for the same entry, whatever the order of its members. */
function textOf(spec: ServerSpec): string {
  // Not part of an entry as a file has it: it was given when the server was added here.
  const entry = isRemote(spec) ? { ...spec, allowPrivate: undefined } : spec;
  return JSON.stringify(entry, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(members.sort(([a], [b]) => a < b ? -1 : 1));
  });
}

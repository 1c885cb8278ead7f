import { TELLING_NAME } from "../config/secrets.ts";
import type { OnAudit } from "../core/access.ts";
import { forwardNow } from "../core/clock.ts";
import { type ErrorDetails, GatewayError } from "../core/errors.ts";
import {
  isolationOf,
  isolationText,
  isProgram,
  isRemote,
  type ProgramSpec,
  type ServerStatus,
} from "../core/server.ts";
import { secretNames } from "../core/secret_reference.ts";
import type {
  ConsentRequest,
  ConsentSpec,
  ConsentsRepository,
  ConsentView,
  FoundConsent,
} from "../storage/consents_repository.ts";
import { maskSpec, programIdentity } from "../servers/spec.ts";

const CONSENT_DAYS = 7;
export const MOST_CONSENTS = 50;
export const CONSENTS_PATH = "/security/consents";
const LIFETIME_MS = CONSENT_DAYS * 24 * 60 * 60_000;

const LOOK_EVERY_MS = 1_000;

/** A request to run a program, or to connect to a server on this machine. */
export type Wish = Pick<ConsentRequest, "wish" | "name" | "spec" | "origin">;

interface ConsentsOptions {
  repository: ConsentsRepository;
  /** Derives an id from a text without revealing the text. */
  sign(text: string): Promise<string>;
  address: string;
  apply(request: ConsentRequest): Promise<ServerStatus>;
  find(name: string): ServerStatus | undefined;
  onAudit?: OnAudit | undefined;
  onChanged?: (() => void) | undefined;
  now?: () => number;
}

export type Decision = { server: ServerStatus } | { refused: string };

/** The owner has to approve first; the caller may wait for the decision. */
export class ConsentNeeded extends GatewayError {
  /** The page where the owner decides; empty if this gateway has no URL. */
  readonly link: string;
  /** Waits for the decision; undefined if there is none before the signal aborts. */
  readonly decided: (signal: AbortSignal) => Promise<Decision | undefined>;

  constructor(details: ErrorDetails, link: string, decided: ConsentNeeded["decided"]) {
    super("CONSENT_NEEDED", details);
    this.link = link;
    this.decided = decided;
  }
}

/** Variables that can make a harmless command run something else. */
const STEERING =
  /^(LD_|DYLD_|PATH$|SHELL$|ENV$|BASH_ENV$|IFS$|NODE_|NPM_CONFIG_|DENO_|BUN_|UV_|PIP_|PYTHON|PERL|RUBY|_?JAVA_|JDK_|GIT_|DOTNET_|SSH_ASKPASS$|HTTPS?_PROXY$|ALL_PROXY$)/i;

/**
 * Requests by others to run programs or connect to servers on this machine. Nothing happens until
 * the owner approves.
 */
export class Consents {
  readonly #options: ConsentsOptions;
  readonly #now: () => number;
  readonly #waiting = new Map<string, Set<(decision: Decision) => void>>();

  constructor(options: ConsentsOptions) {
    this.#options = options;
    this.#now = options.now ?? forwardNow;
  }

  /** Saves a request for the owner and returns the error for the caller. A repeated request is saved once. */
  async ask({ wish, name, spec, origin }: Wish): Promise<ConsentNeeded> {
    const { repository, sign, onChanged } = this.#options;
    const now = this.#now();
    const id = await sign(JSON.stringify([wish, name, contentOf(spec)]));
    if (await repository.find(id, now) === undefined) {
      if (await repository.count(now) >= MOST_CONSENTS) {
        throw new GatewayError("LIMIT_EXCEEDED", {
          message: `${MOST_CONSENTS} requests are already waiting for the owner's consent`,
          recoveryAction: "Ask the owner to decide on these requests first",
          recoverySteps: [
            `Ask the owner to open ${CONSENTS_PATH} of the console on the gateway's own machine`,
          ],
        });
      }
      const request = { id, wish, name, spec, origin, askedAt: now, expiresAt: now + LIFETIME_MS };
      await repository.add(request, now);
      this.#note("consent.ask", request);
      onChanged?.();
    }
    return this.#needed({ id, wish, name, spec });
  }

  /** Oldest first; without anything that looks like a secret unless `isWhole`. */
  async list(isWhole: boolean): Promise<ConsentView[]> {
    return (await this.#options.repository.list(this.#now())).map((found) => view(found, isWhole));
  }

  count(): Promise<number> {
    return this.#options.repository.count(this.#now());
  }

  /** Runs the program; if that fails, the request stays. */
  async approve(id: string): Promise<ServerStatus> {
    const { request, problem } = await this.#resolve(id);
    if (problem !== undefined) {
      throw new GatewayError("SECRET_UNREADABLE", {
        message: `Cannot start "${request.name}": ${problem}`,
        recoverySteps: ["Refuse it, then send the request again"],
      });
    }
    const server = await this.#options.apply(request);
    await this.#forget(request, "consent.approve", { server });
    return server;
  }

  async refuse(id: string): Promise<string> {
    const { request } = await this.#resolve(id);
    await this.#forget(request, "consent.refuse", { refused: request.name });
    return request.name;
  }

  async #decided(
    { id, name, wish }: Pick<ConsentRequest, "id" | "name" | "wish">,
    signal: AbortSignal,
  ): Promise<Decision | undefined> {
    const { promise, resolve } = Promise.withResolvers<Decision | undefined>();
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(resolve));
    const stop = () => resolve(undefined);
    signal.addEventListener("abort", stop);
    let looksGone = 0;
    const look = async () => {
      if (await this.#options.repository.find(id, this.#now()) !== undefined) return;
      // Decided at another gateway, or expired; for a change, this gateway cannot tell which.
      const server = this.#options.find(name);
      // A server that was started there may take a moment to be known here.
      if (!server && ++looksGone < 2) return;
      resolve(wish === "change" ? undefined : server ? { server } : { refused: name });
    };
    const timer = setInterval(() => void look().catch(() => {}), LOOK_EVERY_MS);
    if (signal.aborted) stop();
    try {
      return await promise;
    } finally {
      clearInterval(timer);
      signal.removeEventListener("abort", stop);
      waiting.delete(resolve);
      if (waiting.size === 0) this.#waiting.delete(id);
    }
  }

  async #resolve(id: string): Promise<FoundConsent> {
    const found = /^[0-9a-f]{16}$/.test(id)
      ? await this.#options.repository.find(id, this.#now())
      : undefined;
    if (found) return found;
    throw new GatewayError("NOT_FOUND", {
      message: "Consent request not found: it was decided or has expired",
      recoverySteps: ["See `quartermaster consent list`"],
    });
  }

  async #forget(request: ConsentRequest, action: string, decision: Decision): Promise<void> {
    for (const decided of this.#waiting.get(request.id) ?? []) decided(decision);
    await this.#options.repository.delete(request.id);
    this.#note(action, request);
    this.#options.onChanged?.();
  }

  #needed({ id, wish, name, spec }: Pick<ConsentRequest, "id" | "wish" | "name" | "spec">) {
    const { address } = this.#options;
    const link = address === "" ? "" : `${address}${CONSENTS_PATH}#consent-${id}`;
    const command = `\`quartermaster consent approve ${id}\``;
    const done = wish === "add" ? "added" : "changed";
    const what = isProgram(spec)
      // Masked: the caller knows the arguments, but logs repeat this message.
      ? `running ${JSON.stringify([spec.command, ...maskedArgs(spec)])}`
      : `connecting to ${maskedUrl(spec)} on the gateway's own machine`;
    return new ConsentNeeded(
      {
        message:
          `Server "${name}" was not ${done}: ${what} requires the consent of the gateway's ` +
          `owner${link === "" ? "" : ` at ${link}`}. Nothing was ${
            isProgram(spec) ? "run" : "connected to"
          }`,
        recoveryAction: "Ask the owner to approve",
        recoverySteps: [
          link === ""
            ? `Ask the owner to run ${command} on the gateway's own machine`
            : `Ask the owner to approve on the gateway's own machine: ${link}, or ${command}`,
          "Then call this tool again: it waits for the decision if the client requests progress",
          `The request stays open for ${CONSENT_DAYS} days; calling again does not create another`,
        ],
      },
      link,
      (signal) => this.#decided({ id, name, wish }, signal),
    );
  }

  #note(action: string, request: ConsentRequest): void {
    const { argv, url, variables, folder } = view({ request }, false);
    const names = variables.map(({ name }) => name);
    const after = url === undefined
      ? { argv, variables: names, ...(folder === undefined ? {} : { folder }) }
      : { url, headers: names };
    this.#options.onAudit?.({ action, subject: request.name, after });
  }
}

function view({ request, problem }: FoundConsent, isWhole: boolean): ConsentView {
  const { id, wish, name: server, spec, origin, askedAt, expiresAt } = request;
  const common = {
    ...{ id, wish, server, origin, askedAt, expiresAt },
    secrets: secretNames(spec),
    ...(problem === undefined ? {} : { problem }),
  };
  if (!isProgram(spec)) {
    const variables = Object.keys(spec.headers).map((name) => ({ name }));
    return { ...common, argv: [], url: maskedUrl(spec), variables };
  }
  const isolation = isolationOf(spec);
  return {
    ...common,
    argv: [spec.command, ...(isWhole ? spec.args : maskedArgs(spec))],
    variables: Object.entries(spec.env).map(([name, value]) => ({
      name,
      ...(isWhole && STEERING.test(name) && !TELLING_NAME.test(name) ? { value } : {}),
    })),
    ...(spec.cwd === undefined ? {} : { folder: spec.cwd }),
    ...(isolation === undefined ? {} : { isolation: isolationText(isolation) }),
  };
}

function maskedArgs(spec: ProgramSpec): string[] {
  const masked = maskSpec(spec);
  return isProgram(masked) ? masked.args : [];
}

/** Normalized, so that all spellings of a URL are equal. */
function maskedUrl(spec: Exclude<ConsentSpec, ProgramSpec>): string {
  const masked = maskSpec(spec);
  return isRemote(masked) ? new URL(masked.url).href : "";
}

/** The content that a decision covers: different content is a different request. */
function contentOf(spec: ConsentSpec): unknown {
  if (isProgram(spec)) return programIdentity(spec);
  const headers = Object.entries(spec.headers).sort(([a], [b]) => a < b ? -1 : 1);
  return [new URL(spec.url).href, headers];
}

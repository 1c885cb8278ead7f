import { TELLING_NAME } from "../config/secrets.ts";
import type { OnAudit } from "../core/audit.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerStatus } from "../core/server.ts";
import { secretNames } from "../core/secret_reference.ts";
import type {
  ConsentOrigin,
  ConsentRequest,
  ConsentsRepository,
  FoundConsent,
} from "../storage/consents_repository.ts";
import { programOf, type ProgramSpec } from "./changed_spec.ts";
import { maskSpec } from "./masked_spec.ts";

const CONSENT_DAYS = 7;
export const MOST_CONSENTS = 50;
export const CONSENTS_PATH = "/security/consents";
const LIFETIME_MS = CONSENT_DAYS * 24 * 60 * 60_000;

/** A program that somebody wants to have run. */
export interface Wish {
  wish: "add" | "change";
  name: string;
  spec: ProgramSpec;
  origin: ConsentOrigin;
}

/** What a person gets to see of a request. */
export interface ConsentView {
  id: string;
  wish: "add" | "change";
  server: string;
  /** The program and its arguments, exactly as they would be run. */
  argv: string[];
  /** Values may be secret: only those are told that can decide what is run. */
  variables: { name: string; value?: string }[];
  /** Names of the secrets that it would get. */
  secrets: string[];
  folder?: string;
  origin: ConsentOrigin;
  askedAt: number;
  expiresAt: number;
  /** Why it can only be refused. */
  problem?: string;
}

export interface ConsentsOptions {
  repository: ConsentsRepository;
  /** Makes an id of a text from which nobody can guess the text. */
  sign(text: string): Promise<string>;
  /** Where the owner finds the page; empty where this gateway has no address. */
  address: string;
  /** Adds or changes the server, and starts it. */
  apply(request: ConsentRequest): Promise<ServerStatus>;
  onAudit?: OnAudit | undefined;
  onChanged?: (() => void) | undefined;
  now?: () => number;
}

/** Variables that can make a harmless command run something else. */
const STEERING =
  /^(LD_|DYLD_|PATH$|SHELL$|ENV$|BASH_ENV$|IFS$|NODE_|NPM_CONFIG_|DENO_|BUN_|UV_|PIP_|PYTHON|PERL|RUBY|_?JAVA_|JDK_|GIT_|DOTNET_|SSH_ASKPASS$|HTTPS?_PROXY$|ALL_PROXY$)/i;

/** Programs that somebody from elsewhere wants to have run: nothing is, until the owner has agreed. */
export class Consents {
  readonly #options: ConsentsOptions;
  readonly #now: () => number;

  constructor(options: ConsentsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Keeps a wish for the owner; gives what to tell whoever has it. The same wish is kept once. */
  async ask({ wish, name, spec, origin }: Wish): Promise<GatewayError> {
    const { repository, sign, onChanged } = this.#options;
    const now = this.#now();
    const id = await sign(JSON.stringify([wish, name, programOf(spec)]));
    if (await repository.find(id, now) === undefined) {
      if (await repository.count(now) >= MOST_CONSENTS) throw tooMany();
      const request = { id, wish, name, spec, origin, askedAt: now, expiresAt: now + LIFETIME_MS };
      await repository.add(request, now);
      this.#note("consent.ask", request);
      onChanged?.();
    }
    return this.#needed({ id, wish, name, spec });
  }

  /** The oldest first; where the reader may only look, without what looks like a secret. */
  async list(isWhole: boolean): Promise<ConsentView[]> {
    return (await this.#options.repository.list(this.#now())).map((found) => view(found, isWhole));
  }

  count(): Promise<number> {
    return this.#options.repository.count(this.#now());
  }

  /**
   * Runs the program; where that fails the request stays. Only somebody at this machine can agree:
   * else whoever asks could do so himself.
   */
  async approve(id: string, isHere: boolean): Promise<ServerStatus> {
    if (!isHere) {
      throw new GatewayError("ACCESS_DENIED", {
        message: "To agree that a program is run takes somebody at the gateway's own machine",
        recoverySteps: [
          "Use the gateway's local address, on the machine itself, unless it has a --public-url",
          `Or \`deno task cli consent approve ${/^\w+$/.test(id) ? id : "ID"}\` there`,
        ],
      });
    }
    const { request, problem } = await this.#resolve(id);
    if (problem !== undefined) {
      throw new GatewayError("SECRET_UNREADABLE", {
        message: `Cannot run the program of "${request.name}": ${problem}`,
        recoverySteps: ["Refuse it, and have it asked for again"],
      });
    }
    const status = await this.#options.apply(request);
    await this.#forget(request, "consent.approve");
    return status;
  }

  /** Gives the name of the server that is not to be. */
  async refuse(id: string): Promise<string> {
    const { request } = await this.#resolve(id);
    await this.#forget(request, "consent.refuse");
    return request.name;
  }

  async #resolve(id: string): Promise<FoundConsent> {
    const found = /^[0-9a-f]{16}$/.test(id)
      ? await this.#options.repository.find(id, this.#now())
      : undefined;
    if (found) return found;
    throw new GatewayError("NOT_FOUND", {
      message: "There is no such request for consent: it was decided, or has run out",
      recoverySteps: ["See `deno task cli consent list`"],
    });
  }

  async #forget(request: ConsentRequest, action: string): Promise<void> {
    await this.#options.repository.delete(request.id);
    this.#note(action, request);
    this.#options.onChanged?.();
  }

  #needed({ id, wish, name, spec }: Pick<ConsentRequest, "id" | "wish" | "name" | "spec">) {
    // Whoever asks knows it; a log that repeats this need not.
    const argv = JSON.stringify([spec.command, ...maskedArgs(spec)]);
    return new GatewayError("CONSENT_NEEDED", {
      message: `Server "${name}" was not ${wish === "add" ? "added" : "changed"}: to run ${argv} ` +
        "needs the consent of the gateway's owner, who finds the request in the console. " +
        "Nothing was run",
      recoveryAction: "Ask the owner to agree",
      recoverySteps: [
        `Ask the owner to look at it, at ${this.#options.address}${CONSENTS_PATH}`,
        "To agree is for the gateway's own machine: " +
        `\`deno task cli consent approve ${id}\` there, or that page where it offers to`,
        `It waits for ${CONSENT_DAYS} days; to ask again changes nothing`,
      ],
    });
  }

  #note(action: string, request: ConsentRequest): void {
    const { argv, variables, folder } = view({ request }, false);
    const names = variables.map(({ name }) => name);
    const after = { argv, variables: names, ...(folder === undefined ? {} : { folder }) };
    this.#options.onAudit?.({ action, subject: request.name, after });
  }
}

function view({ request, problem }: FoundConsent, isWhole: boolean): ConsentView {
  const { id, wish, name: server, spec, origin, askedAt, expiresAt } = request;
  return {
    ...{ id, wish, server, origin, askedAt, expiresAt },
    argv: [spec.command, ...(isWhole ? spec.args : maskedArgs(spec))],
    variables: Object.entries(spec.env).map(([name, value]) => ({
      name,
      ...(isWhole && STEERING.test(name) && !TELLING_NAME.test(name) ? { value } : {}),
    })),
    secrets: secretNames(spec),
    ...(spec.cwd === undefined ? {} : { folder: spec.cwd }),
    ...(problem === undefined ? {} : { problem }),
  };
}

function maskedArgs(spec: ProgramSpec): string[] {
  const masked = maskSpec(spec);
  return masked.type === "stdio" ? masked.args : [];
}

function tooMany(): GatewayError {
  return new GatewayError("LIMIT_EXCEEDED", {
    message: `${MOST_CONSENTS} programs wait for the owner's consent already`,
    recoveryAction: "Ask the owner to decide on those first",
    recoverySteps: [`Ask the owner to look at ${CONSENTS_PATH} on the gateway's own machine`],
  });
}

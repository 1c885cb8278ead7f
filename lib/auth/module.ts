import * as z from "zod";
import { Access, type AccessOptions } from "./access.ts";
import { ConsoleLogins } from "./console_logins.ts";
import {
  type GatewayRun,
  readOwnerTicket,
  tokenUseNotes,
  type VerifiedCredential,
} from "./credentials.ts";
import { FailedAttempts } from "./failed_attempts.ts";
import type { Platform } from "../config/platform.ts";
import type { Options } from "../config/option_table.ts";
import { parseJson } from "../core/rpc.ts";
import type { Bus } from "../core/bus.ts";
import { GatewayError } from "../core/errors.ts";
import { hasPublicUrl, isLoopback } from "../config/address.ts";
import { inTurn, keepUp, once } from "../core/async.ts";
import {
  AccessTokensRepository,
  ConsoleLoginsRepository,
  ProjectsRepository,
} from "../storage/access_repositories.ts";
import { signingSecret } from "../storage/secrets_repository.ts";
import type { Mailbox } from "../storage/mailbox.ts";
import type { Store } from "../storage/store.ts";

const NOTE_USE_EVERY_MS = 60_000;
const EXPIRE_EVERY_MS = 500;
/** The topic of messages about failed attempts between gateways on one store. */
const ATTEMPTS = "failed attempts";
const TELL_MS = 5_000;
const Attempt = z.strictObject({ what: z.string(), place: z.string() });

interface AuthInput {
  store: Store;
  options: Options;
  platform: Platform;
  /** Where clients find the gateway; empty if it does not listen. */
  address: string;
  /** This process, which an owner's ticket has to name. */
  run: GatewayRun;
  /** Tells a refused client where to get a token. */
  challenge: NonNullable<AccessOptions["challenge"]>;
  bus: Bus;
  mailbox: Pick<Mailbox, "handle" | "askAll">;
  onWarning(message: string, details?: object): void;
}

export type AuthModule = Awaited<ReturnType<typeof buildAuth>>;

/** Whether other machines than this one can reach the gateway. */
export function isTokenRequired(options: Options, platform: Platform): boolean {
  const { requireToken, host, publicUrl } = options;
  return requireToken || platform.name === "deploy" || !isLoopback(host) ||
    hasPublicUrl(publicUrl);
}

export async function buildAuth(input: AuthInput) {
  const { store, options, platform, onWarning } = input;
  await using stack = new AsyncDisposableStack();
  const tokens = new AccessTokensRepository(store);
  const projects = new ProjectsRepository(store);
  const consoleLogins = new ConsoleLogins(new ConsoleLoginsRepository(store));
  const vouchByIssuer = trustIssuer(input, stack);
  const secret = once(() => signingSecret(store));
  const attempts = new Map<string, FailedAttempts>();
  const { mailbox } = input;
  const tell = (what: string) => (place: string) => {
    mailbox.askAll(ATTEMPTS, JSON.stringify({ what, place }), TELL_MS)
      .catch((error) => onWarning("Cannot tell other gateways of a failed attempt", { error }));
  };
  mailbox.handle(ATTEMPTS, (body) => {
    const { what, place } = Attempt.parse(parseJson(body));
    attempts.get(what)?.note(place);
    return Promise.resolve("");
  });
  const access = new Access({
    tellGuess: tell("token"),
    isRequired: isTokenRequired(options, platform),
    adminToken: options.adminToken,
    hasAuthority: vouchByIssuer !== undefined,
    async vouch(bearer) {
      if (!bearer.startsWith("qmo_")) return await vouchByIssuer?.(bearer);
      return readOwnerTicket(bearer, await secret(), input.run);
    },
    challenge: input.challenge,
  });

  const loginAttempts = new FailedAttempts({
    what: "login attempts",
    perPlace: 5,
    inAll: 50,
    tell: tell("login"),
  });
  attempts.set("login", loginAttempts).set("token", access.guesses);

  async function loadNow(): Promise<void> {
    const [allTokens, allProjects] = await Promise.all([
      Array.fromAsync(tokens.list()),
      Array.fromAsync(projects.list()),
      consoleLogins.load(),
    ]);
    const changed = access.load(
      allTokens.map(({ value }) => value),
      allProjects.map(({ value }) => value),
    );
    if (changed.size > 0) input.bus.emit("rightsChanged", changed);
  }
  const turn = inTurn();
  // Serialized, or tokens read before a revocation could be applied after it.
  const load = () => turn(loadNow);
  await load();
  const expiring = setInterval(() => {
    const expired = access.takeExpired();
    if (expired.size > 0) input.bus.emit("rightsChanged", expired);
  }, EXPIRE_EVERY_MS);
  stack.defer(() => clearInterval(expiring));

  const work = tokenUseNotes(() => access.takeUsed(), (id, time) => tokens.touch(id, time));
  const onError = (error: unknown) => onWarning("Cannot record when tokens were used", { error });
  // Once more at the end, when no other note is under way.
  stack.defer(() => work().catch(onError));
  stack.use(keepUp({ work, everyMs: NOTE_USE_EVERY_MS, onError }));

  const opened = stack.move();
  return {
    access,
    tokens,
    projects,
    consoleLogins,
    loginAttempts,
    load,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Reads tokens of the configured identity provider; undefined without one. */
function trustIssuer(
  { options, address, onWarning }: AuthInput,
  stack: AsyncDisposableStack,
): ((bearer: string) => Promise<VerifiedCredential | undefined>) | undefined {
  const { oauthIssuer: issuer, oauthAudience: audience = address } = options;
  if (issuer === undefined || address === "") return undefined;
  const { protocol, hostname } = new URL(issuer);
  if (protocol !== "https:" && !isLoopback(hostname)) {
    throw new GatewayError("CONFIG_INVALID", {
      message:
        `Cannot accept tokens of ${issuer}: without https, its keys could be replaced in transit`,
      recoverySteps: ["Set --oauth-issuer to the identity provider's https URL"],
    });
  }
  const closing = new AbortController();
  stack.defer(() => closing.abort());

  /** Loaded with the first such token: most gateways never see one. */
  const reader = once(async () => {
    const [{ JwtReader }, { IssuerKeys }] = await Promise.all([
      import("./jwt.ts"),
      import("./issuer_keys.ts"),
    ]);
    const keys = new IssuerKeys({ issuer, onWarning });
    return new JwtReader({ issuer, audience, address, keys });
  });
  return async (bearer) => await (await reader()).read(bearer, closing.signal);
}

import { Access } from "./auth/access.ts";
import { Attempts } from "./auth/attempts.ts";
import { ConsoleLogins } from "./auth/console_logins.ts";
import type { Vouched } from "./auth/credentials.ts";
import { type GatewayRun, readOwnerTicket } from "./auth/owner_ticket.ts";
import { TokenUse } from "./auth/token_use.ts";
import type { Platform } from "./config/deployment.ts";
import type { Options } from "./config/option_table.ts";
import type { AuditedChange } from "./core/audit.ts";
import { GatewayError } from "./core/errors.ts";
import { isLoopback } from "./core/loopback.ts";
import { once } from "./core/once.ts";
import { ConsoleGate } from "./http/console_gate.ts";
import { isKnownToOthers } from "./http/from_here.ts";
import { ResourceMetadata } from "./http/resource_metadata.ts";
import {
  AccessTokensRepository,
  ConsoleLoginsRepository,
  ProjectsRepository,
} from "./storage/access_repositories.ts";
import { signingSecret } from "./storage/signing_secret.ts";
import type { Store } from "./storage/store.ts";
import { AccessAdmin } from "./surfaces/access_admin.ts";

const NOTE_USE_EVERY_MS = 60_000;
const EXPIRE_EVERY_MS = 500;

export interface ComposeAccessInput {
  stack: AsyncDisposableStack;
  store: Store;
  options: Options;
  platform: Platform;
  /** Where clients find the gateway; empty where nothing is listened on. */
  address: string;
  /** Which gateway a command line has to mean. */
  run: GatewayRun;
  /** The rights of these owners are others, or have ended. */
  onChanged(owners: ReadonlySet<string>): void;
  onAudit?(change: AuditedChange): void;
  onWarning(message: string, details?: object): void;
}

/** Whether the gateway can be reached by more than the machine it runs on. */
export function isTokenRequired(options: Options, platform: Platform): boolean {
  const { requireToken, host, publicUrl } = options;
  return requireToken || platform.name === "deploy" || !isLoopback(host) ||
    isKnownToOthers(publicUrl);
}

/** Who may come in. */
export async function composeAccess(input: ComposeAccessInput) {
  const { stack, store, options, platform, onWarning } = input;
  const tokens = new AccessTokensRepository(store);
  const projects = new ProjectsRepository(store);
  const logins = new ConsoleLogins(new ConsoleLoginsRepository(store));
  const isRequired = isTokenRequired(options, platform);
  const authority = composeAuthority(input);
  const secret = once(() => signingSecret(store));
  const access = new Access({
    isRequired,
    adminToken: options.adminToken,
    hasAuthority: authority !== undefined,
    async vouch(bearer) {
      if (!bearer.startsWith("qmo_")) return await authority?.vouch(bearer);
      return readOwnerTicket(bearer, await secret(), input.run);
    },
    challenge: (request, error) => authority?.metadata.challenge(request, error),
  });

  // One after the other, or what was read before a revocation could be applied after it.
  let loading: Promise<void> = Promise.resolve();
  function load(): Promise<void> {
    const loaded = loading.then(loadNow);
    loading = loaded.catch(() => {});
    return loaded;
  }

  async function loadNow(): Promise<void> {
    const [allTokens, allProjects] = await Promise.all([
      Array.fromAsync(tokens.list()),
      Array.fromAsync(projects.list()),
      logins.load(),
    ]);
    const changed = access.load(
      allTokens.map(({ value }) => value),
      allProjects.map(({ value }) => value),
    );
    if (changed.size > 0) input.onChanged(changed);
  }
  await load();
  const expiring = setInterval(() => {
    const expired = access.takeExpired();
    if (expired.size > 0) input.onChanged(expired);
  }, EXPIRE_EVERY_MS);
  stack.defer(() => clearInterval(expiring));

  const use = new TokenUse({
    take: () => access.takeUsed(),
    touch: (id, time) => tokens.touch(id, time),
  });
  let noting: Promise<void> = Promise.resolve();
  const note = () =>
    noting = use.note().catch((error) => onWarning("Cannot note when tokens were used", { error }));
  const timer = setInterval(note, NOTE_USE_EVERY_MS);
  stack.defer(async () => {
    clearInterval(timer);
    await noting;
    await note();
  });

  const gate = new ConsoleGate({ access, logins });
  const admin = new AccessAdmin({
    tokens,
    projects,
    onChanged: load,
    onWarning,
    ...(input.onAudit ? { onAudit: input.onAudit } : {}),
  });
  return {
    access,
    admin,
    gate,
    logins,
    attempts: new Attempts(),
    load,
    resourceMetadata: authority?.metadata,
  };
}

/** The identity provider whose tokens are taken, if there is one. */
function composeAuthority({ stack, options, address, onWarning }: ComposeAccessInput) {
  const { oauthIssuer: issuer, oauthAudience: audience = address } = options;
  if (issuer === undefined || address === "") return undefined;
  const { protocol, hostname } = new URL(issuer);
  if (protocol !== "https:" && !isLoopback(hostname)) {
    throw new GatewayError("CONFIG_INVALID", {
      message:
        `Cannot take tokens of ${issuer}: it is not https, so its keys could be changed on ` +
        "the way",
      recoverySteps: ["Give --oauth-issuer as the identity provider writes it, with https"],
    });
  }
  const closing = new AbortController();
  stack.defer(() => closing.abort());

  /** Loaded when the first such token comes: most gateways never see one. */
  const load = async () => {
    const [{ JwtReader }, { IssuerKeys }] = await Promise.all([
      import("./auth/jwt.ts"),
      import("./auth/issuer_keys.ts"),
    ]);
    const keys = new IssuerKeys({ issuer, onWarning });
    return new JwtReader({ issuer, audience, address, keys });
  };
  let reader: ReturnType<typeof load> | undefined;
  return {
    metadata: new ResourceMetadata({ address, issuer }),
    async vouch(bearer: string): Promise<Vouched | undefined> {
      reader ??= load();
      return await (await reader).read(bearer, closing.signal);
    },
  };
}

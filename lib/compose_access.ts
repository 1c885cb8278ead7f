import { Access } from "./auth/access.ts";
import { Attempts } from "./auth/attempts.ts";
import { ConsoleLogins } from "./auth/console_logins.ts";
import { readOwnerTicket } from "./auth/owner_ticket.ts";
import type { Platform } from "./config/deployment.ts";
import type { Options } from "./config/option_table.ts";
import { ConsoleGate } from "./http/console_gate.ts";
import { isLoopback } from "./http/guard.ts";
import {
  AccessTokensRepository,
  ConsoleLoginsRepository,
  ProjectsRepository,
} from "./storage/access_repositories.ts";
import { signingSecret } from "./storage/signing_secret.ts";
import type { Store } from "./storage/store.ts";
import { AccessAdmin, type AccessChange } from "./surfaces/access_admin.ts";

const NOTE_USE_EVERY_MS = 60_000;

export interface ComposeAccessInput {
  stack: AsyncDisposableStack;
  store: Store;
  options: Options;
  platform: Platform;
  /** The rights of these owners are others, or have ended. */
  onChanged(owners: ReadonlySet<string>): void;
  onAudit?(change: AccessChange): void;
  onWarning(message: string, details?: object): void;
}

/** Whether the gateway can be reached by more than the machine it runs on. */
export function isTokenRequired(options: Options, platform: Platform): boolean {
  const { requireToken, host, publicUrl } = options;
  return requireToken || platform.name === "deploy" || !isLoopback(host) ||
    (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname));
}

/** Who may come in. */
export async function composeAccess(input: ComposeAccessInput) {
  const { stack, store, options, platform, onWarning } = input;
  const tokens = new AccessTokensRepository(store);
  const projects = new ProjectsRepository(store);
  const logins = new ConsoleLogins(new ConsoleLoginsRepository(store));
  const isRequired = isTokenRequired(options, platform);
  const access = new Access({
    isRequired,
    adminToken: options.adminToken,
    async vouch(bearer) {
      if (!bearer.startsWith("qmo_")) return undefined;
      return readOwnerTicket(bearer, await signingSecret(store));
    },
  });

  async function load(): Promise<void> {
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

  async function noteUse(): Promise<void> {
    for (const [id, time] of access.takeUsed()) await tokens.touch(id, time);
  }
  let noting: Promise<void> = Promise.resolve();
  const note = () =>
    noting = noteUse().catch((error) => onWarning("Cannot note when tokens were used", { error }));
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
    ...(input.onAudit ? { onAudit: input.onAudit } : {}),
  });
  return { access, admin, gate, logins, attempts: new Attempts(), load };
}

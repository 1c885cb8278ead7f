import { composeSecrets } from "../compose_secrets.ts";
import { loadServers } from "../config/mcp_file.ts";
import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import type { ServerSpec } from "../core/server.ts";
import { ServersRepository } from "../storage/servers_repository.ts";
import type { SecretsAdmin } from "../surfaces/secrets_admin.ts";
import { commandAudit } from "./audit_store.ts";
import type { CommandInput } from "./command.ts";
import { selfOf } from "./self.ts";
import { openStore } from "./servers_access.ts";
import { inert, printError } from "./terminal.ts";

export interface OpenSecrets extends AsyncDisposable {
  admin: SecretsAdmin;
}

/** Secrets in the store itself: a gateway that runs on it follows. */
export async function openSecrets(input: CommandInput): Promise<OpenSecrets> {
  const { options, platform, env, dirs } = input;
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openStore(input));
  const onAudit = commandAudit({ env, stack, store }).note;
  const secrets = composeSecrets({ store, options, platform, learn: () => {}, onAudit });
  async function servers(): Promise<{ name: string; spec: ServerSpec }[]> {
    const location = { path: options.config, cwd: Deno.cwd(), configDir: dirs.config };
    const added = await Array.fromAsync(new ServersRepository(store, secrets.box).list());
    let configured: { name: string; spec: ServerSpec }[] = [];
    try {
      configured = (await loadServers({ ...location, env, platform, self: selfOf(input) })).servers;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      printError(inert(`Not known what the config file's servers use: ${error.message}\n`));
    }
    const names = new Set(configured.map(({ name }) => name));
    return [
      ...configured,
      ...added.map(({ value }) => value).filter(({ name }) => !names.has(name)),
    ];
  }
  const admin = await secrets.admin(servers);
  const opened = stack.move();
  return { admin, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** The one name that a command takes; what else is given is not repeated, it may be the secret. */
export function oneSecret(
  command: string,
  { positionals }: Pick<CommandInput, "positionals">,
): string {
  const [name, ...others] = positionals;
  if (name !== undefined && others.length === 0) return name;
  throw configError(
    `${command} takes the name of one secret, and nothing else`,
    command === "secrets set"
      ? "Give the value on standard input: whoever lists processes can read arguments"
      : `Write it as: deno task cli ${command} NAME`,
  );
}

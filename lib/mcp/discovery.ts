import type { Access } from "../auth/access.ts";
import type { CatalogModule } from "../catalog/module.ts";
import type { ToolSearchModule } from "../catalog/search/module.ts";
import { once } from "../core/async.ts";
import { ToolKeys } from "../catalog/tool_keys.ts";
import type { ServerPool } from "../servers/pool.ts";
import { signingSecret } from "../storage/secrets_repository.ts";
import type { Store } from "../storage/store.ts";
import type { TelemetryModule } from "../telemetry/module.ts";
import type { ContentRules } from "./content_screen.ts";
import { SkillDirectory } from "./skill_directory.ts";
import { StartingServers } from "./starting_servers.ts";
import { TokenAccount } from "./token_account.ts";
import { ToolDirectory } from "./tool_directory.ts";

export interface DiscoveryInput {
  store: Store;
  pool: ServerPool;
  access: Access;
  catalog: Pick<CatalogModule, "catalog" | "names" | "metadata" | "tokens">;
  search: ToolSearchModule;
  telemetry: Pick<TelemetryModule, "activity" | "coUse" | "exampleCalls" | "searchPicks">;
  trust: { screen: Pick<ContentRules, "list"> };
}

export type Discovery = ReturnType<typeof buildDiscovery>;

export function buildDiscovery(input: DiscoveryInput) {
  const { store, pool, access, search, telemetry } = input;
  const { catalog, names, metadata, tokens } = input.catalog;
  const admitsServer = (principal: string, name: string) => access.admitsServer(principal, name);
  const starting = new StartingServers({ pool, catalog, admits: admitsServer });
  const skills = new SkillDirectory({
    servers: (principal) =>
      pool.list().flatMap(({ name }) => admitsServer(principal, name) ? pool.find(name) ?? [] : []),
    rules: input.trust.screen,
  });
  const account: TokenAccount = new TokenAccount({
    tokens,
    visible: (principal) => toolDirectory.visible(principal),
    onSent: (change) => telemetry.activity.recordTokens(change),
  });
  const toolDirectory: ToolDirectory = new ToolDirectory({
    skills,
    catalog,
    names,
    metadata,
    tokens,
    keys: once(async () => new ToolKeys(await signingSecret(store))),
    search: search.search,
    warmUp() {
      telemetry.coUse();
      search.warmUp();
    },
    servers: (principal) =>
      pool.list().map(({ name }) => name).filter((name) => admitsServer(principal, name)),
    serverState: (name) => pool.find(name)?.status.state,
    starting,
    admits: (principal, tool) => access.admits(principal, tool),
    mayManage: (principal) => access.grants(principal).may("manage"),
    usedWith({ server, name }) {
      const table = names.of(catalog.snapshot);
      return telemetry.coUse().with(server, name)
        .flatMap(({ server, tool }) => table.find(server, tool) ?? []);
    },
    callsOf: (owner, { server, name }) => telemetry.exampleCalls(owner, server, name),
    picksOf: (owner) => telemetry.searchPicks(owner),
    baseline: (principal) => account.baseline(principal),
  });
  return { toolDirectory, starting, account };
}

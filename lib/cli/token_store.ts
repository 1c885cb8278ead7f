import { AccessTokensRepository, ProjectsRepository } from "../storage/access_repositories.ts";
import type { Store } from "../storage/store.ts";
import { AccessAdmin } from "../surfaces/access_admin.ts";
import { commandAudit } from "./audit_store.ts";
import type { CommandInput } from "./command.ts";
import { openStore } from "./servers_access.ts";

export interface OpenAccess extends AsyncDisposable {
  admin: AccessAdmin;
  store: Store;
}

/** Tokens and projects in the store itself: a gateway that runs on it follows. */
export async function openAccess(input: CommandInput): Promise<OpenAccess> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openStore(input));
  const admin = new AccessAdmin({
    tokens: new AccessTokensRepository(store),
    projects: new ProjectsRepository(store),
    onAudit: commandAudit({ ...input, stack, store }).note,
  });
  const opened = stack.move();
  return { admin, store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

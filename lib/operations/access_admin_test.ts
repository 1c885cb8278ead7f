import assert from "node:assert/strict";
import { AccessScope, type AuditedChange } from "../core/access.ts";
import { AccessTokensRepository, ProjectsRepository } from "../storage/access_repositories.ts";
import { Store } from "../storage/store.ts";
import { AccessAdmin } from "./access_admin.ts";

const scope = AccessScope.parse({ rights: ["read"] });

function adminOf(store: Store, audited: AuditedChange[] = []): AccessAdmin {
  return new AccessAdmin({
    tokens: new AccessTokensRepository(store),
    projects: new ProjectsRepository(store),
    onAudit: (change) => audited.push(change),
  });
}

Deno.test("AccessAdmin.revokeToken() takes an id before a name that looks like it", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const admin = adminOf(store);
  /** Ids are random: one of those that are wanted. */
  async function create(name: string, isWanted: (id: string) => boolean) {
    for (let tries = 0; tries < 200; tries++) {
      const { token } = await admin.createToken({ name, scope });
      if (isWanted(token.id)) return token;
      await admin.revokeToken(token.id);
    }
    throw new Error("No id is wanted");
  }
  const meant = await create("meant", (id) => id >= "8");
  // One that is listed before it.
  await create(meant.id, (id) => id < meant.id);
  assert.equal((await admin.revokeToken(meant.id)).name, "meant");
  assert.equal((await admin.revokeToken(meant.id)).name, meant.id);
});

Deno.test("AccessAdmin tells the audit what was done, and never a token's text or hash", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const audited: AuditedChange[] = [];
  const admin = adminOf(store, audited);
  await admin.saveProject({ name: "web", servers: ["git"] });
  const { token, text } = await admin.createToken({ name: "ci", scope, project: "web" });
  await assert.rejects(admin.deleteProject("web"), /a token is limited to it \(ci\)/);
  await admin.revokeToken(token.id);
  await admin.deleteProject("web");
  assert.deepEqual(audited.map(({ action, subject }) => [action, subject]), [
    ["project.create", "web"],
    ["token.create", "ci"],
    ["token.revoke", "ci"],
    ["project.delete", "web"],
  ]);
  assert.ok(!JSON.stringify(audited).includes(text));
  assert.doesNotMatch(JSON.stringify(audited), /hash/);
});

Deno.test("AccessAdmin.saveProject() undoes nothing that its writer had not read", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const admin = adminOf(store);
  const made = await admin.saveProject({ name: "web", servers: ["git"], versionstamp: null });
  assert.deepEqual(await admin.projects(), [made]);
  const again = { name: "web", servers: [], versionstamp: null };
  await assert.rejects(admin.saveProject(again), { code: "CONFLICT", message: /already/ });
  const changed = await admin.saveProject({ ...made, servers: ["git", "browser"] });
  for (const versionstamp of [made.versionstamp, "", "no such"]) {
    await assert.rejects(admin.saveProject({ ...made, versionstamp }), {
      code: "CONFLICT",
      message: /someone changed it since you opened it/,
    });
  }
  assert.deepEqual(await admin.projects(), [changed]);
  await admin.deleteProject("web");
  await assert.rejects(admin.saveProject(changed), { code: "CONFLICT" });
  assert.deepEqual(await admin.projects(), []);
});

Deno.test("AccessAdmin.deleteProject() does not open its servers to other projects", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const admin = adminOf(store);
  await admin.saveProject({ name: "web", servers: ["git", "browser"] });
  await admin.saveProject({ name: "data", servers: ["git"] });
  await assert.rejects(
    admin.deleteProject("web"),
    /browser would then belong to all other projects/,
  );
  await admin.saveProject({ name: "web", servers: ["git"] });
  await admin.deleteProject("web");
  await admin.deleteProject("data");
});

Deno.test("AccessAdmin.createToken() gives a name once, also to those who ask at once", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const [one, other] = [adminOf(store), adminOf(store)];
  const made = await Promise.allSettled([
    one.createToken({ name: "ci", scope }),
    other.createToken({ name: "ci", scope }),
    one.createToken({ name: "me", scope }),
  ]);
  assert.equal(made.filter(({ status }) => status === "fulfilled").length, 2);
  const refused = made.find((outcome) => outcome.status === "rejected");
  assert.match(String(refused?.reason), /Token "ci" already exists/);
  assert.deepEqual((await one.tokens()).map(({ name }) => name).sort(), ["ci", "me"]);
});

Deno.test("AccessAdmin.createToken() gives the text of a token that could not be taken up at once", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const warned: string[] = [];
  const admin = new AccessAdmin({
    tokens: new AccessTokensRepository(store),
    projects: new ProjectsRepository(store),
    onChanged: () => Promise.reject(new Error("The store is away")),
    onWarning: (message) => warned.push(message),
  });
  const { text, token } = await admin.createToken({ name: "ci", scope });
  assert.match(text, /^qm_/);
  assert.deepEqual((await admin.tokens()).map(({ id }) => id), [token.id]);
  assert.equal(warned.length, 1);
});

import { EVERYONE } from "../../../../../lib/core/access.ts";
import { callBy, servicesOf } from "../../../../../lib/operations/testing/services.ts";
import assert from "node:assert/strict";
import {
  AccessTokensRepository,
  ProjectsRepository,
} from "../../../../../lib/storage/access_repositories.ts";
import { Store } from "../../../../../lib/storage/store.ts";
import { AccessAdmin } from "../../../../../lib/operations/access_admin.ts";
import { changeProjects, projectsPage } from "./model.ts";
import { stubGateway } from "../../../../../lib/console/testing/stub_gateway.ts";

Deno.test("changeProjects() refuses a form of a page that another change came after", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const accessAdmin = new AccessAdmin({
    tokens: new AccessTokensRepository(store),
    projects: new ProjectsRepository(store),
  });
  const { servers } = stubGateway({ servers: [{ name: "git" }, { name: "browser" }] });
  const gateway = servicesOf({ accessAdmin, servers });
  const send = (entries: string[][]) =>
    changeProjects(gateway, new URLSearchParams(entries), callBy(EVERYONE));
  const create = [["change", "create"], ["name", "web"]];
  assert.equal(await send(create), "made");
  await assert.rejects(send(create), { code: "CONFLICT", message: /web" already/ });

  const [shown] = (await projectsPage(gateway, new URLSearchParams())).projects;
  const save = [["change", "save"], ["name", "web"]];
  const seen = ["versionstamp", shown!.versionstamp];
  assert.equal(await send([...save, seen, ["server", "git"]]), "saved");
  await assert.rejects(send([...save, seen]), { code: "CONFLICT", message: /somebody changed it/ });
  await assert.rejects(send(save), { code: "CONFLICT" });
  assert.deepEqual((await accessAdmin.projects())[0]?.servers, ["git"]);
});

import { EVERYONE } from "../../../../../lib/core/access.ts";
import { callBy, servicesOf } from "../../../../../lib/operations/testing/services.ts";
import assert from "node:assert/strict";
import {
  AccessTokensRepository,
  ProjectsRepository,
} from "../../../../../lib/storage/access_repositories.ts";
import { Store } from "../../../../../lib/storage/store.ts";
import { AccessAdmin } from "../../../../../lib/operations/access_admin.ts";
import { decideByForm } from "../../../../../lib/console/form_page.ts";
import { PROJECT_DECISIONS, projectsPage } from "./model.ts";
import { stubGateway } from "../../../../../lib/console/testing/stub_gateway.ts";

Deno.test("projects page refuses a form of a page that another change came after", async () => {
  await using store = await Store.open({ location: ":memory:" });
  const accessAdmin = new AccessAdmin({
    tokens: new AccessTokensRepository(store),
    projects: new ProjectsRepository(store),
  });
  const { servers } = stubGateway({ servers: [{ name: "git" }, { name: "browser" }] });
  const gateway = servicesOf({ accessAdmin, servers });
  const send = (entries: string[][]) =>
    decideByForm(PROJECT_DECISIONS, gateway, new URLSearchParams(entries), callBy(EVERYONE));
  const create = [["action", "create"], ["name", "web"]];
  await send(create);
  await assert.rejects(send(create), { code: "CONFLICT", message: /web" already/ });

  const [shown] = (await projectsPage(gateway, new URLSearchParams())).projects;
  const save = [["action", "save"], ["name", "web"]];
  const seen = ["versionstamp", shown!.versionstamp];
  await send([...save, seen, ["servers", "git"]]);
  await assert.rejects(send([...save, seen]), { code: "CONFLICT", message: /someone changed it/ });
  await assert.rejects(send(save), { code: "CONFLICT" });
  assert.deepEqual((await accessAdmin.projects())[0]?.servers, ["git"]);
});

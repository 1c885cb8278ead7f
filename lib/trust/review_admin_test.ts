import assert from "node:assert/strict";
import { fingerprint } from "../catalog/catalog_tool.ts";
import { INSTRUCTIONS } from "./text_screen.ts";
import { listed, openReview } from "./testing/open_review.ts";
import type { AuditedChange } from "../core/access.ts";
import { waitingTools, waitsFor } from "../console/tool_rows.ts";
import { GatewayError } from "../core/errors.ts";
import type { ChangePolicy, ServerSpec } from "../core/server.ts";
import { Store } from "../storage/store.ts";
import { failure } from "../storage/testing/failures.ts";
import { ReviewAdmin } from "./review_admin.ts";

class Setting implements AsyncDisposable {
  readonly store: Store;
  readonly review: ReturnType<typeof openReview>;
  readonly admin: ReviewAdmin;
  readonly audit: AuditedChange[] = [];
  spec: ServerSpec;
  /** What others change of the entry, each before the next change of it is written. */
  readonly others: Partial<ServerSpec>[] = [];

  private constructor(store: Store, policy: ChangePolicy) {
    this.store = store;
    this.review = openReview(store, { s: policy, t: policy });
    this.spec = { type: "http", url: "http://127.0.0.1/mcp", headers: {}, changes: policy };
    const status = {
      name: "s",
      type: "http" as const,
      source: { kind: "store" as const },
      state: "ready" as const,
      reason: "",
      since: 0,
      toolCount: 0,
    };
    this.admin = new ReviewAdmin({
      ...this.review,
      servers: () =>
        ["s", "t"].map((name) => ({ name, spec: this.spec, source: { kind: "store" } })),
      admin: {
        describe: (name) => {
          if (name !== "s") throw new GatewayError("SERVER_NOT_FOUND");
          return { server: status, spec: this.spec };
        },
        read: () =>
          Promise.resolve({ server: status, spec: this.spec, version: JSON.stringify(this.spec) }),
        update: (_, spec, { version }) => {
          this.spec = { ...this.spec, ...this.others.shift() } as ServerSpec;
          if (version !== undefined && version !== JSON.stringify(this.spec)) {
            return Promise.reject(new GatewayError("CONFLICT"));
          }
          this.spec = spec;
          return Promise.resolve(status);
        },
      },
      onAudit: (entry) => this.audit.push(entry),
    });
  }

  static async open(policy: ChangePolicy, ...texts: string[]): Promise<Setting> {
    const setting = new Setting(await Store.open({ location: ":memory:" }), policy);
    await setting.review.load();
    await setting.review.list("s", ...texts);
    return setting;
  }

  /** The one thing that waits about a tool. */
  subject(tool: string) {
    const [item, ...others] = this.admin.show("s", tool);
    assert.ok(item && others.length === 0, `${tool}: ${item ? others.length + 1 : 0} items`);
    return item;
  }

  shown(tool: string) {
    return this.review.shown("s", tool);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
  }
}

const by = { principal: "token:abc", from: "127.0.0.1" };

Deno.test("ReviewAdmin.approve() takes a held change, and revert() serves the earlier one again", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const { admin, review } = setting;
  await review.list("s", listed("a", "Does more"));
  const [item] = admin.list().items;
  assert.deepEqual([item?.kind, item?.state, item?.diff?.changes[0]?.path], [
    "changed",
    "held",
    "description",
  ]);
  await admin.approve(setting.subject("a"), by);
  assert.equal(setting.shown("a"), listed("a", "Does more"));
  assert.equal(admin.count().total, 0);
  const [decision] = await admin.decisions();
  assert.deepEqual([decision?.kind, decision?.by], ["approved", "token:abc"]);

  await admin.revert("s", "a", by);
  assert.equal(setting.shown("a"), listed("a"));
  assert.deepEqual(admin.list().items, []);
  assert.equal(setting.subject("a").state, "rejected");
  assert.deepEqual(
    setting.audit.map(({ action, subject, principal, from }) => [
      action,
      subject,
      principal,
      from,
    ]),
    [
      ["review.approve", "s.a", "token:abc", "127.0.0.1"],
      ["review.revert", "s.a", "token:abc", "127.0.0.1"],
    ],
  );
  await admin.approve(setting.subject("a"), by);
  assert.equal(setting.shown("a"), listed("a", "Does more"));
});

Deno.test("ReviewAdmin.approve() refuses what is not what was looked at", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const { admin, review } = setting;
  await review.list("s", listed("a", "Does more"));
  const seen = setting.subject("a");
  await review.list("s", listed("a", "Does evil"));
  await failure(admin.approve(seen), "CONFLICT");
  await failure(admin.reject(seen), "CONFLICT");
  assert.equal(setting.shown("a"), listed("a"));
  await failure(admin.approve({ ...seen, tool: "nothing" }), "NOT_FOUND");
  await failure(admin.approve({ ...seen, server: "nowhere" }), "SERVER_NOT_FOUND");
});

Deno.test("ReviewAdmin.reject() does not ask about the same definition again", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const { admin, review } = setting;
  await review.list("s", listed("a", "Does more"), listed("b"));
  await admin.reject(setting.subject("a"));
  await admin.reject(setting.subject("b"));
  assert.deepEqual(admin.list().items, []);
  assert.deepEqual(review.names("s"), ["a"]);
  await review.list("s", listed("a", "Does most"), listed("b"));
  assert.deepEqual(admin.list().items.map(({ tool }) => tool), ["a"]);
});

Deno.test("ReviewAdmin.approve() takes a rename, and an added tool, which revert() hides", async () => {
  await using setting = await Setting.open("hold", listed("a", "Reads files"), listed("b"));
  const { admin, review } = setting;
  await review.list("s", listed("z", "Reads files"), listed("b"), listed("c"));
  const renamed = setting.subject("z");
  assert.deepEqual([renamed.kind, renamed.from], ["renamed", "a"]);
  await admin.approve(renamed);
  await admin.approve(setting.subject("c"));
  assert.deepEqual(review.names("s"), ["z", "b", "c"]);
  await admin.revert("s", "c");
  assert.deepEqual(review.names("s"), ["z", "b"]);
});

Deno.test("ReviewAdmin.approve() of what one client is listed instead of a tool takes that from nobody", async () => {
  await using setting = await Setting.open("hold", listed("a", "Reads files"), listed("b"));
  const { admin, review } = setting;
  review.catalog.read("s", [listed("z", "Reads files"), listed("b")]);
  const renamed = setting.subject("z");
  assert.deepEqual([renamed.kind, renamed.from], ["renamed", "a"]);
  await admin.approve(renamed);
  assert.deepEqual(review.names("s"), ["a", "b"]);
});

Deno.test("ReviewAdmin tells of what was passed on until it is seen, and can take it back", async () => {
  await using setting = await Setting.open("notify", listed("a"), listed("b"));
  const { admin, review } = setting;
  await review.list("s", listed("a", "Does more"), listed("b", "Does more"), listed("c"));
  assert.equal(admin.count().notices, 3);
  await admin.approve(setting.subject("a"));
  assert.equal(setting.shown("a"), listed("a", "Does more"));

  await admin.reject(setting.subject("b"));
  assert.equal(setting.shown("b"), listed("b"));
  await admin.reject(setting.subject("c"));
  assert.deepEqual(review.names("s"), ["a", "b"]);
  assert.equal(admin.count().total, 0);
  // The next version of what a person keeps waits, that of others is passed on.
  await review.list("s", listed("a", "Does most"), listed("b", "Does most"), listed("c", "Other"));
  assert.equal(setting.shown("b"), listed("b"));
  assert.deepEqual(review.names("s"), ["a", "b"]);
  assert.deepEqual(
    admin.list().items.map(({ tool, state }) => [tool, state]).sort(),
    [["a", "notice"], ["b", "held"]],
  );
  await admin.approve(setting.subject("b"));
  assert.equal(setting.shown("b"), listed("b", "Does most"));
  // Even after it was seen there is a way back.
  await admin.approve(setting.subject("a"));
  await admin.revert("s", "a");
  assert.equal(setting.shown("a"), listed("a", "Does more"));
  await failure(admin.revert("s", "unknown"), "NOT_FOUND");
});

Deno.test("ReviewAdmin lists a change with a finding once, also while its server is off", async () => {
  await using setting = await Setting.open("notify", listed("a"), listed("b"));
  const { admin, review } = setting;
  await review.list("s", listed("a", "EVIL"), listed("b", "ODD"), listed("c", "EVIL"));
  const states = () =>
    admin.list().items.map(({ tool, kind, state, diff }) => [tool, kind, state, diff !== undefined])
      .sort();
  const expected = [
    ["a", "changed", "quarantined", true],
    ["b", "changed", "flagged", true],
    ["c", "added", "quarantined", false],
  ];
  assert.deepEqual(states(), expected);
  review.catalog.unlist("s");
  assert.deepEqual(states(), expected);
  await admin.reject(setting.subject("a"));
  await admin.reject(setting.subject("c"));
  assert.deepEqual(states(), [expected[1]]);
  await review.list("s", listed("a", "EVIL"), listed("b", "ODD"), listed("c", "EVIL"));
  assert.equal(setting.shown("a"), listed("a"));
  assert.deepEqual(states(), [expected[1]]);
});

Deno.test("ReviewAdmin.waive() needs a finding and a reason, and unwaive() takes it back", async () => {
  await using setting = await Setting.open("notify", listed("a", "EVIL"), listed("b", "ODD"));
  const { admin, review } = setting;
  assert.deepEqual(admin.list().items.map(({ tool, state }) => [tool, state]), [
    ["a", "quarantined"],
    ["b", "flagged"],
  ]);
  assert.deepEqual(review.names("s"), ["b"]);
  const { server, tool, fingerprint } = setting.subject("a");
  const waiver = { server, tool, fingerprint, rule: "evil", reason: "It is mine" };
  await failure(admin.waive({ ...waiver, reason: "  " }), "INVALID_ARGUMENTS");
  await failure(admin.waive({ ...waiver, rule: "odd" }), "NOT_FOUND");
  await failure(admin.waive({ ...waiver, fingerprint: "other" }), "CONFLICT");
  await admin.waive(waiver, by);
  assert.deepEqual(review.names("s"), ["a", "b"]);
  assert.deepEqual((await admin.decisions()).map(({ kind, reason }) => [kind, reason]), [
    ["waived", "It is mine"],
  ]);
  await admin.unwaive("s", "a", "evil");
  assert.deepEqual(review.names("s"), ["b"]);
});

Deno.test("ReviewAdmin.waive() takes the definition that is named, of two with the same finding", async () => {
  await using setting = await Setting.open("hold", listed("a", "EVIL"));
  const { admin, review } = setting;
  await review.list("s", listed("a", "EVIL too"));
  const [served, change] = admin.show("s", "a");
  assert.deepEqual([served?.state, change?.state], ["quarantined", "held"]);
  const { fingerprint } = change!;
  await admin.waive({ server: "s", tool: "a", fingerprint, rule: "evil", reason: "Mine" }, by);
  assert.deepEqual(
    admin.show("s", "a").map(({ state, findings }) => [state, findings.length]),
    [["quarantined", 1], ["held", 0]],
  );
});

Deno.test("ReviewAdmin tells of instructions that are held back", async () => {
  await using setting = await Setting.open("notify", listed("a"));
  await setting.review.screen.instructions("s", "Be EVIL");
  const { server, tool, fingerprint, state } = setting.subject(INSTRUCTIONS);
  assert.equal(state, "quarantined");
  await setting.admin.waive({ server, tool, fingerprint, rule: "evil", reason: "It is mine" });
  assert.equal(await setting.review.screen.instructions("s", "Be EVIL"), "Be EVIL");
});

Deno.test("ReviewAdmin.setPolicy() changes the entry and says so", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const after = await setting.admin.setPolicy("s", { changes: "allow", trust: "untrusted" }, by);
  assert.deepEqual(after, { server: "s", policy: "allow", trust: "untrusted", isEditable: true });
  assert.deepEqual([setting.spec.changes, setting.spec.trust], ["allow", "untrusted"]);
  assert.deepEqual(setting.audit.map(({ action, subject }) => [action, subject]), [
    ["review.policy", "s"],
  ]);
});

Deno.test("ReviewAdmin.setPolicy() keeps what others change of the entry meanwhile", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const before = setting.spec;
  setting.others.push({ maxConcurrent: 2 }, { mode: "read-only" });
  await setting.admin.setPolicy("s", { changes: "allow" }, by);
  assert.deepEqual(setting.spec, {
    ...before,
    maxConcurrent: 2,
    mode: "read-only",
    changes: "allow",
  });
  assert.equal(setting.audit.length, 1);
});

/** What a client on a connection of its own gets of a list. */
async function readAlone({ verdicts, catalog }: Setting["review"], ...own: string[]) {
  const tools = catalog.parse("s", own).filter((tool) => "fingerprint" in tool);
  await verdicts.prepare("s", tools, { isWhole: false });
  return catalog.read("s", own).tools;
}

Deno.test("ReviewAdmin.list() tells of what a server lists for a single client alone", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const { admin, review } = setting;
  const own = [listed("a"), listed("private")];
  assert.deepEqual((await readAlone(review, ...own)).map(({ name }) => name), ["a"]);
  await admin.approve(setting.subject("private"));
  assert.deepEqual(review.catalog.read("s", own).tools.map(({ name }) => name), ["a", "private"]);
});

Deno.test("ReviewAdmin.approve() takes one of the versions that clients are listed, and leaves the others held", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const { admin, review } = setting;
  await readAlone(review, listed("a", "For one"));
  await readAlone(review, listed("a", "For another"));
  await readAlone(review, listed("a", "For somebody"));
  const waiting = () =>
    admin.list().items.map(({ diff }) =>
      diff?.changes.flatMap((change) => change.kind === "text" ? change.segments : [])
        .filter(({ kind }) => kind === "added").map(({ text }) => text).join()
    );
  assert.deepEqual(waiting(), ["For one", "For another", "For somebody"]);
  const [first, second, third] = admin.show("s", "a");
  await failure(admin.approve({ ...first!, fingerprint: "unseen" }), "CONFLICT");
  await admin.approve(second!, by);
  assert.equal(setting.shown("a"), listed("a", "For another"));
  // What all are listed is another one now as well.
  const [original, ...others] = admin.show("s", "a");
  assert.equal(original?.fingerprint, fingerprint(listed("a")));
  assert.deepEqual(
    others.map(({ state, fingerprint }) => [state, fingerprint]),
    [["held", first!.fingerprint], ["held", third!.fingerprint]],
  );
  await admin.reject(third!, by);
  assert.deepEqual(admin.list().items.map(({ fingerprint }) => fingerprint), [
    original?.fingerprint,
    first!.fingerprint,
  ]);
  // Their clients get what was approved.
  const [shown] = review.catalog.read("s", [listed("a", "For one")]).tools;
  assert.equal(shown?.text, listed("a", "For another"));
});

Deno.test("ReviewAdmin.list() has what is found in a definition that only one client is listed", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const { review } = setting;
  const rules = () => setting.subject("a").findings.map(({ rule }) => rule);
  review.catalog.read("s", [listed("a", "Says something EVIL")]);
  await review.book.lookAtHeld("s", review.catalog.heldOf("s"));
  assert.deepEqual(rules(), ["evil"]);
  // Also once everything was looked at again among other servers.
  review.setWords("others");
  await review.book.renew();
  assert.deepEqual(rules(), ["evil"]);
});

Deno.test("ReviewAdmin.approve() never has the tool missing, also where nobody has looked at it", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const { admin, review } = setting;
  await readAlone(review, listed("a", "For one"));
  review.verdicts.forget("s");
  const counts = new Set<number>();
  review.catalog.onChange(() => counts.add(review.names("s").length));
  await admin.approve(setting.subject("a"));
  assert.equal(setting.shown("a"), listed("a", "For one"));
  assert.deepEqual([...counts], [1]);
});

Deno.test("ReviewAdmin.waiting() has what is behind the end of the list, and list() that of one server", async () => {
  await using setting = await Setting.open("hold", listed("a"));
  const { admin, review } = setting;
  await review.list("t", listed("a"));
  const many = Array.from({ length: 201 }, (_, n) => listed(`added_${n}`));
  await review.list("s", listed("a"), ...many);
  await review.list("t", listed("a", "Does more"));
  const { items, more } = admin.list();
  assert.deepEqual([items.length, more], [200, 2]);
  assert.ok(items.every(({ server }) => server === "s"));
  const waiting = admin.waiting();
  assert.equal(waiting.length, 202);
  const last = waiting.slice(-2).map(({ server, tool, kind, state }) => ({
    server,
    tool,
    kind,
    state,
  }));
  assert.deepEqual(last, [
    { server: "s", tool: "added_200", kind: "added", state: "held" },
    { server: "t", tool: "a", kind: "changed", state: "held" },
  ]);
  const wait = waitsFor(waitingTools({ review: admin }));
  assert.deepEqual(wait("s", "added_200"), { wait: "held" });
  const ofOne = admin.list("t");
  assert.deepEqual(ofOne.items.map(({ server, tool }) => [server, tool]), [["t", "a"]]);
  assert.equal(ofOne.more, 0);
  assert.equal(admin.list("nowhere").items.length, 0);
});

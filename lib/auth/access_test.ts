import assert from "node:assert/strict";
import { AccessScope, type AccessToken, EVERYONE, type Project } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { Access } from "./access.ts";
import { ADMIN, hashOf, OWNER } from "./credentials.ts";

const NOW = 1_000_000;

function token(id: string, more: Partial<AccessToken> = {}): AccessToken {
  const text = textOf(id);
  return {
    id,
    name: id,
    hash: hashOf(text),
    scope: AccessScope.parse({ rights: ["read", "call"] }),
    createdAt: 0,
    ...more,
  };
}

function textOf(id: string): string {
  return `qm_${id.repeat(4)}`;
}

function project(name: string, servers: string[]): Project {
  return { name, servers, createdAt: 0 };
}

function vouched(principal: string, rights: string[], expiresAt: number) {
  return { principal, name: "Ann", scope: AccessScope.parse({ rights }), expiresAt };
}

async function refusal(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error.code;
  }
}

Deno.test("Access.identify() lets everyone in where no token is asked for, and nobody elsewhere", async () => {
  const open = new Access({ isRequired: false });
  assert.equal(open.identify(null), EVERYONE);
  assert.equal(await refusal(() => open.identify("Bearer wrong-token-wrong")), "TOKEN_REQUIRED");
  assert.equal(await refusal(() => open.identify("Basic abc")), "TOKEN_REQUIRED");
  const shut = new Access({ isRequired: true, adminToken: "an-admin-token-of-20" });
  assert.equal(await refusal(() => shut.identify(null)), "TOKEN_REQUIRED");
  assert.equal(await shut.identify("Bearer an-admin-token-of-20"), ADMIN);
  assert.equal(shut.grants(ADMIN).isWhole, true);
});

Deno.test("Access.identify() slows wrong tokens from one place, and guesses of the admin token with them", async () => {
  let now = NOW;
  const adminToken = "an-admin-token-of-20";
  const access = new Access({ isRequired: true, adminToken, now: () => now });
  access.load([token("aaaaaaaa")], []);
  const from = (place: string) => ({ place: () => place });
  let nth = 0;
  const guess = (place: string, text = `wrong-${nth++}`) =>
    refusal(() => access.identify(`Bearer ${text}`, from(place)));
  for (let each = 0; each < 20; each++) assert.equal(await guess("a"), "TOKEN_REQUIRED");
  assert.equal(await guess("a"), "LIMIT_EXCEEDED");
  assert.equal(await guess("a", "wrong-0"), "TOKEN_REQUIRED", "a mistake that is repeated");
  assert.equal(await guess("a", adminToken), "LIMIT_EXCEEDED", "a right guess is not told apart");
  assert.equal(await guess("a", textOf("aaaaaaaa")), undefined, "nobody can guess this one");
  assert.equal(await guess("b"), "TOKEN_REQUIRED", "others are not slowed");
  assert.equal(await guess("b", adminToken), undefined);
  access.load([], []);
  assert.equal(await guess("a", adminToken), undefined, "it was shown before the guesses ended");
  now += 60_000;
  assert.equal(await guess("a"), "TOKEN_REQUIRED");
});

Deno.test("Access.identify() has clients of an identity provider replace expired tokens, however many", async () => {
  const vouch = () => Promise.resolve(undefined);
  const access = new Access({ isRequired: true, hasAuthority: true, vouch });
  const place = { place: () => "a" };
  for (let nth = 0; nth < 30; nth++) {
    const code = await refusal(() => access.identify("Bearer header.claims.signature", place));
    assert.equal(code, "TOKEN_REQUIRED");
  }
});

Deno.test("Access.load() makes a revoked token worthless at once, known header or not", async () => {
  const access = new Access({ isRequired: true, now: () => NOW });
  access.load([token("aaaaaaaa"), token("bbbbbbbb")], []);
  const header = `Bearer ${textOf("aaaaaaaa")}`;
  assert.equal(access.identify(header), "token:aaaaaaaa");
  assert.equal(access.identify(header), "token:aaaaaaaa");
  assert.deepEqual(access.load([token("bbbbbbbb")], []), new Set(["token:aaaaaaaa"]));
  assert.equal(await refusal(() => access.identify(header)), "TOKEN_REQUIRED");
  assert.equal(access.isValid("token:aaaaaaaa"), false);
  assert.equal(access.admits("token:aaaaaaaa", { server: "git", name: "status" }), false);
});

Deno.test("Access ends a token at its expiry, in the middle of a session too", async () => {
  let now = NOW;
  const access = new Access({ isRequired: true, now: () => now });
  access.load([token("aaaaaaaa", { expiresAt: NOW + 10 })], []);
  const header = `Bearer ${textOf("aaaaaaaa")}`;
  assert.equal(access.identify(header), "token:aaaaaaaa");
  assert.equal(access.admits("token:aaaaaaaa", { server: "git", name: "status" }), true);
  now += 10;
  assert.equal(await refusal(() => access.identify(header)), "TOKEN_REQUIRED");
  assert.equal(access.admits("token:aaaaaaaa", { server: "git", name: "status" }), false);
});

Deno.test("Access.admits() keeps to the servers and tools of the token", () => {
  const access = new Access({ isRequired: true, now: () => NOW });
  const scope = AccessScope.parse({
    rights: ["call"],
    servers: ["git*"],
    tools: ["*", "!*.push"],
    toolsets: ["mine"],
  });
  access.load([token("aaaaaaaa", { scope })], []);
  const caller = "token:aaaaaaaa";
  assert.equal(access.admits(caller, { server: "github", name: "status" }), true);
  assert.equal(access.admits(caller, { server: "github", name: "push" }), false);
  assert.equal(access.admits(caller, { server: "files", name: "read" }), false);
  assert.equal(access.admitsServer(caller, "files"), false);
  assert.equal(access.admitsToolset(caller, "mine"), true);
  assert.equal(access.admitsToolset(caller, "yours"), false);
  const withTool = (server: string) =>
    access.admitsToolset(caller, "mine", [{ server, tool: "x" }]);
  assert.deepEqual([withTool("files"), withTool("github")], [false, true]);
  assert.throws(() => access.demand(caller, "manage", "Removing a server"), /requires a token/);
  access.demand(caller, "call", "Calling a tool");
});

Deno.test("Access.admitsServer() keeps back all of a server none of whose tools is admitted", () => {
  const access = new Access({ isRequired: true, now: () => NOW });
  const scope = AccessScope.parse({ rights: ["call"], tools: ["git.status"] });
  access.load([token("aaaaaaaa", { scope })], []);
  assert.equal(access.admitsServer("token:aaaaaaaa", "git"), true);
  assert.equal(access.admitsServer("token:aaaaaaaa", "files"), false);
});

Deno.test("Access keeps a project's servers to the project, and a bound token in it", async () => {
  const access = new Access({ isRequired: false, now: () => NOW });
  const bound = token("aaaaaaaa", { project: "web" });
  access.load([bound, token("bbbbbbbb")], [project("web", ["browser"]), project("data", ["db"])]);
  const header = `Bearer ${textOf("aaaaaaaa")}`;
  const inWeb = "token:aaaaaaaa@web";
  assert.equal(access.identify(header), inWeb);
  assert.equal(access.identify(header, { project: "web" }), inWeb);
  assert.equal(await refusal(() => access.identify(header, { project: "data" })), "ACCESS_DENIED");
  assert.equal(access.admits(inWeb, { server: "browser", name: "open" }), true);
  assert.equal(access.admits(inWeb, { server: "db", name: "query" }), false);
  assert.equal(access.admits(inWeb, { server: "unassigned", name: "any" }), true);
  assert.equal(await refusal(() => access.switchProject(inWeb, "data")), "ACCESS_DENIED");
  assert.equal(access.switchProject(EVERYONE, "data"), "everyone@data");
  assert.equal(access.admits("everyone@data", { server: "browser", name: "open" }), false);
  assert.equal(await refusal(() => access.identify(null, { project: "nowhere" })), "NOT_FOUND");
  access.load([bound], []);
  assert.equal(
    access.admits(inWeb, { server: "db", name: "query" }),
    false,
    "gone with its project",
  );
});

Deno.test("Access.identify() answers alike for a project that is not there and one that has nothing for the caller", async () => {
  const access = new Access({ isRequired: true, now: () => NOW });
  const narrow = (id: string, servers: string[]) =>
    token(id, { scope: AccessScope.parse({ rights: ["call"], servers }) });
  const projects = [
    project("web", ["browser", "db"]),
    project("data", ["db"]),
    project("bare", []),
  ];
  access.load([narrow("aaaaaaaa", ["browser"]), narrow("bbbbbbbb", ["*", "!db"])], projects);
  const words = async (work: () => unknown) => {
    const error = await Promise.try(work).then(() => undefined, (error) => error);
    return error instanceof GatewayError ? [error.code, error.message, error.details] : undefined;
  };
  for (const [id, closed] of [["aaaaaaaa", ["data", "bare"]], ["bbbbbbbb", ["data"]]] as const) {
    const header = `Bearer ${textOf(id)}`;
    const unknown = JSON.stringify(await words(() => access.identify(header, { project: "none" })));
    assert.match(unknown, /There is no project/);
    for (const name of closed) {
      const expected = unknown.replaceAll('\\"none\\"', `\\"${name}\\"`);
      for (
        const ask of [
          () => access.identify(header, { project: name }),
          () => access.switchProject(`token:${id}`, name),
        ]
      ) assert.equal(JSON.stringify(await words(ask)), expected);
    }
    assert.equal(access.identify(header, { project: "web" }), `token:${id}@web`);
  }
  assert.equal(
    access.identify(`Bearer ${textOf("bbbbbbbb")}`, { project: "bare" }),
    "token:bbbbbbbb@bare",
  );
  access.load([narrow("aaaaaaaa", ["browser"])], [project("web", ["db"])]);
  assert.equal(
    await refusal(() => access.identify(`Bearer ${textOf("aaaaaaaa")}`, { project: "web" })),
    "NOT_FOUND",
    "what was open before is looked at again",
  );
});

Deno.test("Access.identifyText() lets in what nobody can guess, whatever was guessed before", async () => {
  const access = new Access({
    isRequired: true,
    adminToken: "an-admin-token-of-20",
    now: () => NOW,
    vouch: (bearer) =>
      Promise.resolve(bearer === "signed" ? vouched("oauth:ann#1", ["read"], NOW + 10) : undefined),
  });
  access.load([token("aaaaaaaa")], []);
  const locked = () => {
    throw new GatewayError("LIMIT_EXCEEDED");
  };
  const ownerOfText = async (text: string, beforeGuess?: () => void) =>
    (await access.identifyText(text, beforeGuess)).principal;
  assert.equal(await ownerOfText(textOf("aaaaaaaa"), locked), "token:aaaaaaaa");
  assert.equal(await ownerOfText("signed", locked), "oauth:ann#1");
  for (const guess of ["an-admin-token-of-20", "an-admin-token-of-21", "qm_guess", "no bearer"]) {
    assert.equal(
      await refusal(() => access.identifyText(guess, locked)),
      "LIMIT_EXCEEDED",
      guess,
    );
  }
  assert.equal(await ownerOfText("an-admin-token-of-20"), ADMIN);
  assert.equal(await refusal(() => access.identifyText("qm_guess")), "TOKEN_REQUIRED");
});

Deno.test("Access.identifyText() has the end of what was shown, not of what is shown at the same time", async () => {
  const ends = new Map([["short", NOW + 100], ["long", NOW + 1_000]]);
  const access = new Access({
    isRequired: true,
    now: () => NOW,
    adminToken: "an-admin-token-of-20",
    vouch: (bearer) => {
      const end = ends.get(bearer);
      return Promise.resolve(end === undefined ? end : vouched("oauth:ann#1", ["read"], end));
    },
  });
  access.load([token("aaaaaaaa", { expiresAt: NOW + 50 }), token("bbbbbbbb")], []);
  await access.identify("Bearer long");
  const shown = ["short", "long", "short", textOf("aaaaaaaa"), textOf("bbbbbbbb")];
  const logins = [...shown, "an-admin-token-of-20"].map((text) => access.identifyText(text));
  assert.deepEqual((await Promise.all(logins)).map(({ endsAt }) => endsAt), [
    NOW + 100,
    NOW + 1_000,
    NOW + 100,
    NOW + 50,
    Infinity,
    Infinity,
  ]);
});

Deno.test("Access.endOf() knows when somebody ends who is vouched for, and no end of the owner", async () => {
  const tokens = new Map([
    ["person", vouched("oauth:ann#1", ["manage"], NOW + 100)],
    ["ticket", vouched(OWNER, ["manage"], NOW + 100)],
  ]);
  const access = new Access({
    isRequired: true,
    now: () => NOW,
    vouch: (bearer) => Promise.resolve(tokens.get(bearer)),
  });
  access.load([token("aaaaaaaa", { expiresAt: NOW + 50 }), token("bbbbbbbb")], []);
  assert.equal(access.endOf(await access.identify("Bearer person")), NOW + 100);
  assert.equal(access.endOf(await access.identify("Bearer ticket")), undefined);
  assert.equal(access.endOf("token:aaaaaaaa@web"), NOW + 50);
  assert.equal(access.endOf("token:bbbbbbbb"), undefined);
});

Deno.test("Access.grants() are those of the token that is shown, though a person has others", async () => {
  let now = NOW;
  const tokens = new Map([
    ["wide", vouched("oauth:ann#1", ["read", "call"], NOW + 100)],
    ["narrow", vouched("oauth:ann#2", ["read"], NOW + 200)],
  ]);
  const access = new Access({
    isRequired: true,
    now: () => now,
    vouch: (bearer) => Promise.resolve(tokens.get(bearer)),
  });
  const [wide, narrow] = [
    await access.identify("Bearer wide"),
    await access.identify("Bearer narrow"),
  ];
  assert.deepEqual(access.grants(wide).rights, new Set(["read", "call"]));
  assert.deepEqual(access.grants(narrow).rights, new Set(["read"]));
  access.load([], [project("web", ["db"])]);
  assert.equal(access.switchProject(narrow, "web"), "oauth:ann#2@web");
  assert.deepEqual(access.grants("oauth:ann#2@web").rights, new Set(["read"]));
  assert.equal(access.nameOf("oauth:ann"), "Ann");
  now += 100;
  assert.equal(access.takeExpired().size, 1);
  assert.equal(access.grants(wide).may("call"), false);
  assert.equal(access.grants(narrow).may("read"), true);
  assert.equal(access.isValid(wide), false);
  assert.equal(access.isValid("oauth:ann"), true, "by the other one");
  assert.equal(access.isValid("oauth:an"), false);
});

Deno.test("Access.takeUsed() tells once when tokens were used", () => {
  const access = new Access({ isRequired: true, now: () => NOW });
  access.load([token("aaaaaaaa")], []);
  access.identify(`Bearer ${textOf("aaaaaaaa")}`);
  assert.deepEqual(access.takeUsed(), new Map([["aaaaaaaa", NOW]]));
  assert.deepEqual(access.takeUsed(), new Map());
});

Deno.test("Access.takeExpired() tells once whose token has run out, also of one that is vouched for", async () => {
  let now = NOW;
  const access = new Access({
    isRequired: true,
    now: () => now,
    vouch: () => Promise.resolve(vouched("oauth:ann", ["read"], NOW + 200)),
  });
  const tokens = [token("aaaaaaaa", { expiresAt: NOW + 100 }), token("bbbbbbbb")];
  access.load(tokens, []);
  await access.identify("Bearer from-elsewhere");
  assert.deepEqual(access.takeExpired(), new Set());
  now += 100;
  assert.deepEqual(access.takeExpired(), new Set(["token:aaaaaaaa"]));
  access.load(tokens, []);
  assert.deepEqual(access.takeExpired(), new Set());
  now += 100;
  assert.deepEqual(access.takeExpired(), new Set(["oauth:ann"]));
  assert.equal(access.isValid("oauth:ann"), false);
  access.load([...tokens, token("cccccccc", { expiresAt: now + 1 })], []);
  now += 1_000;
  assert.deepEqual(access.takeExpired(), new Set(["token:cccccccc"]));
});

Deno.test("Access.load() tells of those in projects when projects change", () => {
  const access = new Access({ isRequired: true, now: () => NOW });
  const tokens = [token("aaaaaaaa", { project: "web" }), token("bbbbbbbb")];
  access.load(tokens, [project("web", [])]);
  for (const id of ["aaaaaaaa", "bbbbbbbb"]) {
    access.grants(String(access.identify(`Bearer ${textOf(id)}`)));
  }
  assert.deepEqual(access.load(tokens, [project("web", [])]), new Set());
  assert.deepEqual(access.load(tokens, [project("web", ["db"])]), new Set(["token:aaaaaaaa"]));
});

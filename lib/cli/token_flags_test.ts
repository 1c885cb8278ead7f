import assert from "node:assert/strict";
import { readNewToken, readSpan } from "./token_flags.ts";

function read(given: Record<string, string | string[]>, now = 1_000) {
  const values = new Map(
    Object.entries(given).map(([flag, value]) => [flag, Array.isArray(value) ? value : [value]]),
  );
  const flags = new Map([...values].map(([flag, list]) => [flag, list.at(-1)!]));
  return readNewToken({ flags, values }, now);
}

Deno.test("readNewToken() gives read and call on everything unless told", () => {
  assert.deepEqual(read({ name: "me" }), {
    name: "me",
    scope: { rights: ["read", "call"], servers: ["*"], toolsets: ["*"], tools: ["*"] },
  });
});

Deno.test("readNewToken() reads lists that are given at once or again and again", () => {
  const token = read({
    name: "ci",
    rights: "manage, read",
    servers: ["git,docs*", "git"],
    tools: "!git.push",
    project: "web",
    expires: "2h",
    "per-minute": "60",
    concurrent: "4",
    mode: "read-only",
  });
  assert.deepEqual(token, {
    name: "ci",
    scope: {
      rights: ["read", "manage"],
      servers: ["git", "docs*"],
      toolsets: ["*"],
      tools: ["!git.push"],
    },
    project: "web",
    limit: { perMinute: 60, concurrent: 4, mode: "read-only" },
    expiresAt: 1_000 + 7_200_000,
  });
});

Deno.test("readNewToken() takes a mode without any other limit", () => {
  assert.deepEqual(read({ name: "a", mode: "confirm" }).limit, { mode: "confirm" });
});

Deno.test("readNewToken() refuses what makes no sense, and says what would", () => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{}, /needs a name/],
    [{ name: " " }, /needs a name/],
    [{ name: "a", rights: "read,admin" }, /no right "admin".*read, call, manage, optimize/],
    [{ name: "a", rights: "," }, /--rights is empty/],
    [{ name: "a", servers: "git hub" }, /--servers cannot be "git hub"/],
    [{ name: "a", "per-minute": "0" }, /--per-minute cannot be "0".*1 to 1000000/],
    [{ name: "a", concurrent: "1.5" }, /--concurrent cannot be "1.5"/],
    [{ name: "a", mode: "reading" }, /--mode cannot be "reading".*all, confirm, read-only/],
    [{ name: "a", expires: "soon" }, /--expires cannot be "soon".*30d/],
  ];
  for (const [given, message] of wrong) assert.throws(() => read(given), message);
});

Deno.test("readSpan() reads minutes, hours, days and weeks, up to ten years", () => {
  assert.deepEqual(["90m", "12h", "30d", "4w"].map(readSpan), [
    5_400_000,
    43_200_000,
    2_592_000_000,
    2_419_200_000,
  ]);
  for (const text of ["0d", "-1d", "30", "1y", "99999w", "1d2h"]) {
    assert.throws(() => readSpan(text), /--expires cannot be/);
  }
});

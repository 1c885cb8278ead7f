import assert from "node:assert/strict";
import type { ServerState, ServerStatus } from "../core/server.ts";
import { Banner, type BannerOutput, type BannerSubject } from "./banner.ts";

/** A terminal that keeps its settled text and the line that the next one replaces. */
class FakeOutput implements BannerOutput {
  text = "";
  line = "";
  constructor(readonly width = 100, readonly isColored = false) {}
  write(text: string): void {
    assert.equal(this.line, "", "text in the middle of a status line");
    this.text += text;
  }
  status(text: string): void {
    this.line = text;
  }
  clear(): void {
    this.line = "";
  }
}

function fakeGateway(states: Record<string, ServerState>, over: Partial<BannerSubject> = {}) {
  const followers = new Set<() => void>();
  const reasons: Record<string, string> = {};
  const gateway: BannerSubject = {
    version: "1.2.3",
    address: "http://127.0.0.1:3333",
    configFile: "/home/ada/.mcp.json",
    logs: { filePath: "/data/logs/run.log" },
    access: { isRequired: false },
    servers: {
      list: () =>
        Object.entries(states).map(([name, state]) =>
          ({ name, state, reason: reasons[name] ?? state }) as ServerStatus
        ),
    },
    events: {
      follow(follower) {
        followers.add(follower);
        return () => followers.delete(follower);
      },
    },
    ...over,
  };
  return {
    gateway,
    followers,
    set(name: string, state: ServerState, reason = "Connected") {
      states[name] = state;
      reasons[name] = reason;
      for (const follower of followers) follower();
    },
  };
}

const HEADER = `
  Quartermaster 1.2.3

  Console      http://127.0.0.1:3333
  Config       /home/ada/.mcp.json
  Claude Code  claude mcp add --transport http quartermaster http://127.0.0.1:3333/mcp
  Log file     /data/logs/run.log

  Press Ctrl-C to stop.

`;

Deno.test("Banner shows servers coming up in one line, then how many are ready and which failed", () => {
  const output = new FakeOutput();
  using banner = new Banner(output);
  const { gateway, set } = fakeGateway({ a: "starting", b: "installing", off: "disabled" });
  banner.show(gateway);
  assert.equal(output.text, HEADER);
  assert.equal(output.line, "  0 of 2 servers ready; starting: a, b (installing)");
  set("a", "ready");
  assert.equal(output.line, "  1 of 2 servers ready; starting: b (installing)");
  banner.write("08:00:00 warning: something\n");
  assert.equal(output.line, "  1 of 2 servers ready; starting: b (installing)");
  set("b", "failed", "No such\x1b[2J program");
  assert.equal(output.line, "");
  assert.equal(
    output.text.slice(HEADER.length),
    "08:00:00 warning: something\n" +
      "  ✗ b: No such<U+001B>[2J program\n  1 of 2 servers ready\n",
  );
});

Deno.test("Banner shows a failure while other servers start, and does not wait for its retries", () => {
  const output = new FakeOutput();
  using banner = new Banner(output);
  const { gateway, set } = fakeGateway({ bad: "starting", idle: "paused", slow: "starting" });
  banner.show(gateway);
  set("bad", "failed", "no such package");
  assert.equal(output.text.slice(HEADER.length), "  - idle: paused\n  ✗ bad: no such package\n");
  assert.equal(output.line, "  0 of 3 servers ready; starting: slow");
  set("bad", "installing");
  assert.equal(output.line, "  0 of 3 servers ready; starting: slow");
  set("slow", "ready");
  assert.match(output.text, /✗ bad: no such package\n {2}1 of 3 servers ready\n$/);
});

Deno.test("Banner shows each later change once", () => {
  const output = new FakeOutput();
  using banner = new Banner(output);
  const { gateway, set, followers } = fakeGateway({ a: "ready" });
  banner.show(gateway);
  output.text = "";
  for (
    const [state, reason] of [["failed", "it ended"], ["starting", "x"], ["failed", "it ended"]]
  ) {
    set("a", state as ServerState, reason);
  }
  assert.equal(output.text, "  ✗ a: it ended\n");
  set("a", "ready");
  set("new", "ready");
  assert.equal(output.text, "  ✗ a: it ended\n  ✓ a: ready\n  ✓ new: ready\n");
  banner.stopping();
  assert.equal(output.line, "Stopping...");
  assert.equal(followers.size, 0);
  banner.stopped();
  assert.match(output.text, /ready\nStopped\.\n$/);
});

Deno.test("Banner says if there is no server or config file, or if a token is required", () => {
  const output = new FakeOutput();
  using banner = new Banner(output);
  const access = { isRequired: true };
  banner.show(fakeGateway({}, { configFile: undefined, access }).gateway);
  assert.match(output.text, /Config {7}none found\n/);
  assert.match(output.text, /\/mcp --header "Authorization: Bearer [^"]+"\n/);
  assert.match(output.text, /No servers yet: add one in the console\n$/);
});

Deno.test("Banner keeps log lines until it is shown, or until it will never be", () => {
  const output = new FakeOutput();
  const banner = new Banner(output);
  banner.write("early\n");
  assert.equal(output.text, "");
  banner[Symbol.dispose]();
  assert.equal(output.text, "early\n");
});

Deno.test("Banner omits log entries about server states, which it shows itself", () => {
  const banner = new Banner(new FakeOutput());
  const entry = { level: "warn", time: new Date().toISOString(), module: "servers" };
  const line = (fields: object) => banner.format(JSON.stringify({ ...entry, ...fields }));
  assert.equal(line({ server: "a", state: "failed", msg: "Server failed" }), undefined);
  assert.match(line({ serverName: "a", msg: "It said something" })!, /warning: It said something/);
});

Deno.test("Banner colors what a terminal shows in color, and breaks lines on a narrow one", () => {
  const output = new FakeOutput(40, true);
  using banner = new Banner(output);
  banner.show(fakeGateway({ a: "ready" }).gateway);
  assert.ok(output.text.includes("\x1b[1mQuartermaster 1.2.3\x1b[22m"));
  assert.match(output.text, /Console\n.*http:\/\/127\.0\.0\.1:3333/);
});

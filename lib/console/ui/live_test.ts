import assert from "node:assert/strict";
import { LiveChannel, liveCounts, liveState, onLive } from "./live.ts";

class FakeSource {
  readyState = 0;
  isClosed = false;
  readonly #listeners = new Map<string, (event: MessageEvent<string>) => void>();

  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void {
    this.#listeners.set(type, listener);
  }

  close(): void {
    this.isClosed = true;
  }

  emit(type: string, data = "", lastEventId = ""): void {
    this.#listeners.get(type)?.(new MessageEvent(type, { data, lastEventId }));
  }
}

function channel(since?: string) {
  const asked: (string | undefined)[] = [];
  const sources: FakeSource[] = [];
  const heard: string[] = [];
  const live = new LiveChannel(
    { onKind: (kind) => heard.push(kind), onReset: () => heard.push("reset") },
    {
      since,
      open(since) {
        const source = new FakeSource();
        sources.push(source);
        asked.push(since);
        return source;
      },
    },
  );
  live.start();
  const last = () => {
    const source = sources.at(-1);
    assert.ok(source);
    return source;
  };
  return { live, sources, asked, heard, last };
}

Deno.test("LiveChannel tells counts, changed servers and gaps", () => {
  const { live, last, heard } = channel();
  last().emit("open");
  assert.equal(liveState.value, "live");
  last().emit("status", '{"servers":3,"ready":2,"tools":9,"attention":1}');
  assert.deepEqual(liveCounts.value, { servers: 3, ready: 2, tools: 9, attention: 1 });
  last().emit("status", '{"servers":"many"}');
  assert.equal(liveCounts.value?.servers, 3);
  last().emit("server", '{"name":"weather","state":"ready"}');
  last().emit("reset", "{}");
  assert.deepEqual(heard, ["servers", "reset"]);
  live.stop();
  assert.ok(last().isClosed);
});

Deno.test("LiveChannel says reconnecting while the browser does it, and asks for nothing twice", () => {
  const { live, sources, last, heard } = channel();
  last().emit("open");
  last().emit("error");
  assert.equal(liveState.value, "reconnecting");
  last().emit("open");
  assert.equal(liveState.value, "live");
  assert.equal(sources.length, 1);
  assert.deepEqual(heard, [], "the gateway replays what was missed");
  live.stop();
});

Deno.test("LiveChannel names what it heard last where the browser gave up", async () => {
  const { live, sources, asked, last } = channel("run-5");
  assert.deepEqual(asked, ["run-5"], "first, when the page was made");
  last().emit("open");
  last().emit("tools", "{}", "run-7");
  last().readyState = 2;
  last().emit("error");
  for (let tries = 0; tries < 3_000 && sources.length < 2; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(asked, ["run-5", "run-7"]);
  live.stop();
});

Deno.test("LiveChannel.heardSince() tells what changed while a page was fetched", () => {
  const { live, last } = channel("run-5");
  assert.deepEqual(live.heardSince("run-5"), []);
  last().emit("tools", "{}", "run-6");
  last().emit("server", '{"name":"weather"}', "run-7");
  last().emit("logs", '{"server":"weather"}', "run-7");
  assert.deepEqual(live.heardSince("run-5"), ["tools", "servers"]);
  assert.deepEqual(live.heardSince("run-6"), ["servers"]);
  assert.deepEqual(live.heardSince("run-7"), []);
  last().emit("reset", "{}", "next-2");
  assert.deepEqual(live.heardSince("run-5"), [], "what came before the restart");
  live.stop();
});

Deno.test("LiveChannel.start() opens one stream, however often it is called", () => {
  const { live, sources } = channel();
  live.start();
  live.start();
  assert.equal(sources.length, 1);
  live.stop();
});

Deno.test("LiveChannel tells what else changed by its kind, and its data to who asked", () => {
  const kinds: string[] = [];
  const heard: unknown[] = [];
  const source = new FakeSource();
  const live = new LiveChannel(
    { onReset: () => {}, onKind: (kind) => kinds.push(kind) },
    { since: undefined, open: () => source },
  );
  live.start();
  const end = onLive("embeddings", (data) => heard.push(data));
  source.emit("embeddings", '{"done":3}');
  source.emit("calls", "{}");
  end();
  source.emit("embeddings", '{"done":4}');
  live.stop();
  assert.deepEqual(kinds, ["embeddings", "calls", "embeddings"]);
  assert.deepEqual(heard, [{ done: 3 }]);
});

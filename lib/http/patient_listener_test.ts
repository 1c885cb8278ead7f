import assert from "node:assert/strict";
import { readBody } from "./guard.ts";
import { listenPatiently, type PatientListenerOptions } from "./patient_listener.ts";

type Handler = Parameters<typeof listenPatiently>[1];

async function listen(
  handler: Handler,
  limits: NonNullable<PatientListenerOptions["limits"]> = {},
) {
  const listener = await listenPatiently({ hostname: "127.0.0.1", port: 0, limits }, handler);
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    port: listener.addr.port,
    [Symbol.asyncDispose]: () => listener.shutdown(),
  };
}

/** Sends what is written, and reads until the other side ends it. */
async function exchange(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(text));
  return await new Response(connection.readable).text();
}

Deno.test("listenPatiently() hands a request over as it came, with who sent it", async () => {
  await using listener = await listen(async (request, { remoteAddr }) =>
    Response.json({
      method: request.method,
      url: request.url,
      host: request.headers.get("host"),
      many: request.headers.get("x-many"),
      body: await request.text(),
      from: remoteAddr.hostname,
    })
  );
  const response = await fetch(`${listener.url}/a//b?c=%20d`, {
    method: "POST",
    headers: [["x-many", "1"], ["x-many", "2"]],
    body: "grüße",
  });
  assert.deepEqual(await response.json(), {
    method: "POST",
    url: `${listener.url}/a//b?c=%20d`,
    host: `127.0.0.1:${listener.port}`,
    many: "1, 2",
    body: "grüße",
    from: "127.0.0.1",
  });
});

Deno.test("listenPatiently() takes the host from the header alone, and refuses what is no path", async () => {
  await using listener = await listen((request) => new Response(request.url));
  const asked = (target: string, host: string) =>
    exchange(
      listener.port,
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
  assert.match(
    await asked("http://evil.example/x?y", "127.0.0.1"),
    /\r\n\r\n.*http:\/\/127\.0\.0\.1\/x\?y/s,
  );
  assert.match(
    await asked("//evil.example/x", "127.0.0.1"),
    /http:\/\/127\.0\.0\.1\/\/evil\.example\/x/,
  );
  assert.match(await asked("*", "127.0.0.1"), /^HTTP\/1\.1 400 /);
});

Deno.test("listenPatiently() sends status, headers and each cookie", async () => {
  await using listener = await listen(() =>
    new Response(null, {
      status: 303,
      headers: [["location", "/x"], ["set-cookie", "a=1"], ["set-cookie", "b=2"]],
    })
  );
  const response = await fetch(listener.url, { redirect: "manual" });
  await response.body?.cancel();
  assert.equal(response.status, 303);
  assert.equal(response.headers.get("location"), "/x");
  assert.deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
});

Deno.test("listenPatiently() streams an answer part by part", async () => {
  const parts = new TransformStream<Uint8Array, Uint8Array>();
  const writer = parts.writable.getWriter();
  await using listener = await listen(() => new Response(parts.readable));
  const response = await fetch(listener.url);
  const reader = response.body!.getReader();
  for (const text of ["one", "two"]) {
    await writer.write(new TextEncoder().encode(text));
    assert.equal(new TextDecoder().decode((await reader.read()).value), text);
  }
  await writer.close();
  assert.equal((await reader.read()).done, true);
});

Deno.test("listenPatiently() tells by the signal and the stream when a client goes, and only then", async () => {
  const cancelled = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  let aborts = 0;
  await using listener = await listen((request) => {
    request.signal.addEventListener("abort", () => aborts++);
    if (new URL(request.url).pathname === "/short") return new Response("done");
    request.signal.addEventListener("abort", () => aborted.resolve());
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("begun")),
        cancel: () => cancelled.resolve(),
      }),
    );
  });
  assert.equal(await (await fetch(`${listener.url}/short`)).text(), "done");
  assert.equal(aborts, 0);
  const leave = new AbortController();
  const response = await fetch(listener.url, { signal: leave.signal });
  await response.body!.getReader().read();
  leave.abort();
  await Promise.all([cancelled.promise, aborted.promise]);
  assert.equal(aborts, 1);
});

Deno.test("listenPatiently() reads no answer for a client that went before it was there", async () => {
  const cancelled = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  let pulled = 0;
  await using listener = await listen(async (request) => {
    const gone = Promise.withResolvers<void>();
    request.signal.addEventListener("abort", () => gone.resolve());
    arrived.resolve();
    await gone.promise;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (++pulled < 100) return controller.enqueue(new TextEncoder().encode("more"));
          cancelled.reject(new Error("It was read into nothing"));
        },
        cancel: () => cancelled.resolve(),
      }, { highWaterMark: 0 }),
    );
  });
  const leave = new AbortController();
  const asking = fetch(listener.url, { signal: leave.signal });
  await arrived.promise;
  leave.abort();
  await assert.rejects(asking, { name: "AbortError" });
  await cancelled.promise;
  assert.equal(pulled, 0);
});

Deno.test("listenPatiently() answers a client whose body is not wanted, and lets it go", async () => {
  await using listener = await listen(async (request) => {
    await assert.rejects(readBody(request, 10), { code: "PAYLOAD_TOO_LARGE" });
    return new Response("too large", { status: 413 });
  });
  const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n";
  const answer = await exchange(listener.port, head + "x".repeat(100));
  assert.match(answer, /^HTTP\/1\.1 413 /);
  assert.match(answer, /too large$/m);
});

Deno.test("listenPatiently() ends a connection whose handler failed, and goes on", async () => {
  let isFirst = true;
  await using listener = await listen(() => {
    if (!isFirst) return new Response("fine");
    isFirst = false;
    throw new Error("hunter2");
  });
  assert.equal(await exchange(listener.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "");
  assert.equal(await (await fetch(listener.url)).text(), "fine");
});

import { isObject, type MessageId, readMessage, resultText } from "../../../core/rpc.ts";

// A program that speaks JSON-RPC a line at a time and misbehaves on request.

const encoder = new TextEncoder();

function write(text: string, stream: { writeSync(bytes: Uint8Array): number } = Deno.stdout) {
  let bytes = encoder.encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}

function answer(id: MessageId, result: unknown) {
  write(resultText(id, JSON.stringify(result)) + "\n");
}

const jobs: Record<string, (id: MessageId, params: Record<string, unknown>) => void> = {
  echo: (id, params) => answer(id, params),
  env: (id) => answer(id, Deno.env.toObject()),
  cwd: (id) => answer(id, Deno.cwd()),
  silence: () => {},
  later: (id, { ms }) => void setTimeout(() => answer(id, "late"), Number(ms)),
  crash: (_, { last }) => {
    write(`${last}\n`, Deno.stderr);
    Deno.exit(3);
  },
  answerAndDie: (id) => {
    answer(id, "last");
    Deno.exit(0);
  },
  repeat: (id, { text, times }) => answer(id, String(text).repeat(Number(times))),
  /** As some SDKs print it. */
  repeatIdLast: (id, { text, times }) => {
    const result = String(text).repeat(Number(times));
    write(JSON.stringify({ result, jsonrpc: "2.0", id }) + "\n");
  },
  /** As Python prints it. */
  repeatSpaced: (id, { text, times }) => {
    const result = JSON.stringify(String(text).repeat(Number(times)));
    write(`{"jsonrpc": "2.0", "id": ${id}, "result": ${result}}\n`);
  },
  idAsText: (id) => answer(String(id), "text"),
  inArray: (id) => write(`[${JSON.stringify({ jsonrpc: "2.0", id, result: "array" })}]\n`),
  print: (id, { text, times, end }) => {
    write(String(text).repeat(Number(times ?? 1)) + (end ?? ""));
    answer(id, "printed");
  },
  complain: (id, { text, times }) => {
    write(String(text).repeat(Number(times ?? 1)), Deno.stderr);
    answer(id, "complained");
  },
  /** Stops reading for a while. */
  sleep: (id, { ms }) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
    answer(id, "awake");
  },
  run: (id, { script, leaveGroup }) => {
    const child = new Deno.Command("sh", {
      args: ["-c", String(script)],
      detached: leaveGroup === true,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    child.unref();
    answer(id, child.pid);
  },
};

const decoder = new TextDecoderStream();
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(decoder)) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const message = readMessage(line);
    if (message?.kind !== "request" || !isObject(message.params)) continue;
    jobs[message.method]?.(message.id, message.params);
  }
}
// One that does not end with its input, where asked.
if (Deno.args.includes("--stubborn")) {
  Deno.addSignalListener("SIGTERM", () => {});
  setInterval(() => {}, 1_000);
}

import { fromFileUrl } from "@std/path";
import { memberText, requestText, type RpcMessage } from "../../../core/rpc.ts";
import type { TransportClosed, TransportEvents } from "../transport.ts";
import { findMarked } from "../../processes/process_group.ts";
import { ProcessOwner } from "../../processes/process_owner.ts";
import { type Program, StdioTransport } from "../stdio.ts";
import { MemoryRecords } from "../../processes/testing/memory_records.ts";
import { OTHER_DENO } from "../../processes/testing/other_deno.ts";

export const HOST = "this-host";

export function ownerOf(leaseId: string, records = new MemoryRecords()): ProcessOwner {
  return new ProcessOwner({
    leaseId,
    host: HOST,
    records,
    onWarning: (message) => {
      throw new Error(message);
    },
  });
}

/** A transport with all it tells, to the fixture server unless another program is named. */
export class TransportHarness implements AsyncDisposable {
  readonly transport: StdioTransport;
  readonly records: MemoryRecords;
  readonly owner: ProcessOwner;
  readonly messages: { text: string; message: RpcMessage }[];
  readonly logs: { line: string; kind: "stderr" | "warning" }[];
  readonly closed: Promise<TransportClosed>;
  /** How often the transport said that it ended. */
  closeCount = 0;
  /** The id of the last request. */
  lastId = 0;

  private constructor(parts: {
    transport: StdioTransport;
    records: MemoryRecords;
    owner: ProcessOwner;
    messages: TransportHarness["messages"];
    logs: TransportHarness["logs"];
    closed: Promise<TransportClosed>;
  }) {
    ({
      transport: this.transport,
      records: this.records,
      owner: this.owner,
      messages: this.messages,
      logs: this.logs,
      closed: this.closed,
    } = parts);
  }

  static async open(
    program: Partial<Program> = {},
    { leaseId = crypto.randomUUID(), onMessage }: {
      leaseId?: string;
      onMessage?: TransportEvents["onMessage"];
    } = {},
  ): Promise<TransportHarness> {
    const records = new MemoryRecords();
    const owner = ownerOf(leaseId, records);
    const [messages, logs]: [TransportHarness["messages"], TransportHarness["logs"]] = [[], []];
    const { promise: closed, resolve } = Promise.withResolvers<TransportClosed>();
    let onClose = resolve;
    const transport = await StdioTransport.open({
      name: "fixture",
      ...fixtureCommand(),
      env: {},
      baseEnv: Deno.env.toObject(),
      owner,
      ...program,
    }, {
      onMessage: onMessage ?? ((text, message) => void messages.push({ text, message })),
      onLog: (line, kind) => void logs.push({ line, kind }),
      onClose: (reason) => onClose(reason),
    });
    const harness = new TransportHarness({ transport, records, owner, messages, logs, closed });
    onClose = (reason) => {
      harness.closeCount++;
      resolve(reason);
    };
    return harness;
  }

  get warnings(): string[] {
    return this.logs.filter(({ kind }) => kind === "warning").map(({ line }) => line);
  }

  /** Resolves with the answer's result. */
  async call(method: string, params: unknown = {}): Promise<unknown> {
    const id = ++this.lastId;
    const text = await this.transport.request(id, requestText(id, method, JSON.stringify(params)));
    return JSON.parse(memberText(text, "result") ?? "null");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.transport[Symbol.asyncDispose]();
    await this.closed;
    if (this.closeCount !== 1) throw new Error(`The transport ended ${this.closeCount} times`);
    const left = await findMarked(this.owner.marker);
    await this.owner[Symbol.asyncDispose]();
    if (left.length > 0) throw new Error(`Processes were left behind: ${left}`);
    if ((await this.records.values()).length > 0) throw new Error("A record was left behind");
  }
}

export function fixtureCommand(...flags: string[]): { command: string; args: string[] } {
  const path = fromFileUrl(import.meta.resolve("./fixture_server.ts"));
  const run = ["run", "--quiet", "--no-lock", "--no-config", "--no-check", "--allow-all"];
  return { command: OTHER_DENO, args: [...run, path, ...flags] };
}

export async function waitUntil(isDone: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!await isDone()) {
    if (performance.now() > deadline) throw new Error("It did not happen within 60 s");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

import * as z from "zod";

/** A server's name; no dots, so that the first dot of `server.tool` always ends it. */
export const ServerName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, {
  error: "A server name must have 1 to 64 letters, digits, _ or -",
});
export type ServerName = z.infer<typeof ServerName>;

type Reach = "program" | "address" | "in-process";

interface TransportDeclaration {
  reach: Reach;
  /** Other names in clients' configuration files, in lower case and without dashes. */
  aliases: readonly string[];
}

/**
 * The transports. A new one takes a line here, its file in lib/servers/transports/, and a line in
 * lib/servers/transports/open.ts. Everything else asks for its reach.
 */
export const TRANSPORTS = {
  stdio: { reach: "program", aliases: ["local"] },
  http: { reach: "address", aliases: ["streamablehttp", "remote"] },
  sse: { reach: "address", aliases: [] },
  demo: { reach: "in-process", aliases: [] },
} as const satisfies Record<string, TransportDeclaration>;
export type TransportType = keyof typeof TRANSPORTS;

type TransportBy<R extends Reach> = {
  [T in TransportType]: (typeof TRANSPORTS)[T]["reach"] extends R ? T : never;
}[TransportType];

export function transportTypes<R extends Reach>(reach?: R): TransportBy<R>[] {
  const types = Object.keys(TRANSPORTS) as TransportType[];
  return types.filter((type): type is TransportBy<R> =>
    reach === undefined || isTransport(type, reach)
  );
}

export function isTransport<R extends Reach>(
  type: TransportType,
  reach: R,
): type is TransportBy<R> {
  return TRANSPORTS[type].reach === reach;
}

/** What to do when a server changes a tool: hold it until approved, notify, or allow. */
export const ChangePolicy = z.enum(["hold", "notify", "allow"]);
export type ChangePolicy = z.infer<typeof ChangePolicy>;

/**
 * How far a server's texts are trusted where the scanner objects to them. `normal`: passages that look like orders
 * are taken out, an attack is quarantined. `trusted`: passages are taken out in either case.
 * `untrusted`: quarantined in either case, and changes are held.
 */
export const ServerTrust = z.enum(["trusted", "normal", "untrusted"]);
export type ServerTrust = z.infer<typeof ServerTrust>;

/** Which calls are let through: all, those that only read, or destructive ones after a yes. */
export const CallMode = z.enum(["all", "confirm", "read-only"]);
export type CallMode = z.infer<typeof CallMode>;

/** What the content guard does about what a server says: nothing, mark it, or withhold it. */
export const AnswerMode = z.enum(["off", "mark", "block"]);
export type AnswerMode = z.infer<typeof AnswerMode>;

/** Names of a server's own tools, with `*` for any text; after `!`, what is kept out. */
const ToolPatterns = z.array(z.string().min(1).max(128)).max(200);

/**
 * Who shares an instance of a server: all clients that can, or nobody, so that each client has one
 * of its own; `root` starts that one in the folder of the client's first root.
 */
export const ServerInstance = z.enum(["shared", "client", "root"]);
export type ServerInstance = z.infer<typeof ServerInstance>;

/** What an owner decides about a server, however it is reached. */
export const ownerFields = {
  /** Default: `normal`. */
  trust: ServerTrust.optional(),
  /** Default: `hold` for a server that is not trusted, else `notify`. */
  changes: ChangePolicy.optional(),
  /** Kept in the list, but not connected. */
  disabled: z.boolean().optional(),
  /** Time limit of a call, in ms; progress restarts it. */
  timeoutMs: z.int().min(100).max(86_400_000).optional(),
  /** Time limit of a call however much progress it reports, in ms; default: an hour. */
  maxTimeoutMs: z.int().min(100).max(86_400_000).optional(),
  /** Time limit for a start, up to the completed handshake, in ms, not counting an install. */
  startTimeoutMs: z.int().min(100).max(86_400_000).optional(),
  instance: ServerInstance.optional(),
  /** After this long without a call its program is stopped, until the next call. */
  idleTimeoutMs: z.int().min(1_000).max(86_400_000).optional(),
  mode: CallMode.optional(),
  /** Tools that only read, and those that write, whatever their annotations claim. */
  readOnlyTools: ToolPatterns.optional(),
  writingTools: ToolPatterns.optional(),
  /** Calls begun within a minute, and calls under way at once, by everybody together. */
  callsPerMinute: z.int().min(1).max(1_000_000).optional(),
  maxConcurrent: z.int().min(1).max(10_000).optional(),
  /** A longer result is cut, and the rest is read page by page. */
  maxResultTokens: z.int().min(100).max(10_000_000).optional(),
  answers: AnswerMode.optional(),
};

/** MCP wants a limit that progress does not restart. */
const MAX_TIMEOUT_MS = 60 * 60_000;

/** How long a call may take in all, however much progress its server reports. */
export function totalLimitMs(
  { timeoutMs, maxTimeoutMs }: { timeoutMs: number; maxTimeoutMs?: number | undefined },
): number {
  return maxTimeoutMs ?? Math.max(timeoutMs, MAX_TIMEOUT_MS);
}

/** A host, or a host with a port; a port is needed for any but those of http and https. */
const NetHost = z.string().regex(/^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/, {
  error: "A host is written as example.com or localhost:5432",
});
const Folders = z.array(z.string().min(1).max(4_096)).max(100);

/**
 * How a program is kept apart from the rest of the machine: `sandbox` by bubblewrap on Linux, `container`
 * by podman or docker. Beyond the system's programs it has only what is named here.
 */
export const Isolation = z.strictObject({
  kind: z.enum(["none", "sandbox", "container"]),
  /** Folders and files it can read, and those it can also change. */
  read: Folders.optional(),
  write: Folders.optional(),
  /** Hosts it can reach; none by default. */
  net: z.array(NetHost).max(100).optional(),
  /** The image of a container. */
  image: z.string().regex(/^[A-Za-z0-9][\w./:@-]{0,254}$/, {
    error: "An image is written as node:22-slim or images.example/name:tag",
  }).optional(),
});
export type Isolation = z.infer<typeof Isolation>;

/** The isolation of a program that has any. */
export function isolationOf(spec: ServerSpec): Isolation | undefined {
  if (!isProgram(spec) || spec.isolation === undefined) return undefined;
  return spec.isolation.kind === "none" ? undefined : spec.isolation;
}

/** An isolation on one line: `sandbox; reads /a; changes /b; reaches example.com`. */
export function isolationText({ kind, read = [], write = [], net = [], image }: Isolation): string {
  const named = ([verb, names]: [string, string[]]) =>
    names.length === 0 ? [] : [`${verb} ${names.join(", ")}`];
  const parts: [string, string[]][] = [["reads", read], ["changes", write], ["reaches", net]];
  return [kind, ...image === undefined ? [] : [image], ...parts.flatMap(named)].join("; ");
}

export const ProgramServer = z.strictObject({
  type: z.enum(transportTypes("program")),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().optional(),
  /** Started at the first call, and stopped when it has been idle for a while. */
  lazy: z.boolean().optional(),
  /** Off: npx and uvx run whatever their registry has at that moment. */
  pin: z.boolean().optional(),
  isolation: Isolation.optional(),
  ...ownerFields,
});

export const RemoteServer = z.strictObject({
  type: z.enum(transportTypes("address")),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).default({}),
  /** Of one that was added at run time: its owner has chosen an address in a private network. */
  allowPrivate: z.boolean().optional(),
  ...ownerFields,
});

const InProcessServer = z.strictObject({
  type: z.enum(transportTypes("in-process")),
  ...ownerFields,
});

export const ServerSpec = z.discriminatedUnion("type", [
  ProgramServer,
  RemoteServer,
  InProcessServer,
]);
export type ServerSpec = z.infer<typeof ServerSpec>;
export type ProgramSpec = z.infer<typeof ProgramServer>;
export type RemoteSpec = z.infer<typeof RemoteServer>;

export function isProgram(spec: ServerSpec): spec is ProgramSpec {
  return TRANSPORTS[spec.type].reach === "program";
}

export function isRemote(spec: ServerSpec): spec is RemoteSpec {
  return TRANSPORTS[spec.type].reach === "address";
}

/** The fields of an entry whose texts may hold a secret or refer to one. */
const TEXT_FIELDS = {
  args: "argument",
  env: "variable",
  url: "address",
  headers: "header",
} as const;

export interface SpecText {
  kind: (typeof TEXT_FIELDS)[keyof typeof TEXT_FIELDS];
  /** `args/0`, `headers/Authorization`. */
  path: string;
  text: string;
}

export function specTexts(spec: ServerSpec): SpecText[] {
  const texts: SpecText[] = [];
  mapSpecTexts(spec, (found) => {
    texts.push(found);
    return found.text;
  });
  return texts;
}

export function mapSpecTexts<T extends ServerSpec>(spec: T, map: (text: SpecText) => string): T {
  const mapped: Record<string, unknown> = { ...spec };
  for (const [field, kind] of Object.entries(TEXT_FIELDS)) {
    const value = mapped[field];
    if (typeof value === "string") mapped[field] = map({ kind, path: field, text: value });
    else if (typeof value === "object" && value !== null) {
      const texts = Object.entries(value).map(([key, text]) =>
        [key, map({ kind, path: `${field}/${key}`, text })] as const
      );
      mapped[field] = Array.isArray(value)
        ? texts.map(([, text]) => text)
        : Object.fromEntries(texts);
    }
  }
  return mapped as T;
}

/** What to do when a server changes its tools. */
export function changePolicy(
  { trust, changes }: Pick<ServerSpec, "trust" | "changes">,
): ChangePolicy {
  return changes ?? (trust === "untrusted" ? "hold" : "notify");
}

/** Who owns a server's entry, and so where it can be changed. */
export type ServerSource = { kind: "file"; path: string } | { kind: "store" } | { kind: "demo" };

export type ServerState =
  | "starting"
  /** Starting, while npx, uvx or another installer fetches its packages. */
  | "installing"
  | "ready"
  | "degraded"
  | "failed"
  | "disabled"
  /** The owner paused it: the gateway does not try to connect. */
  | "paused"
  | "needs_login"
  /** Only on the command line, while no gateway runs: a command connects when it needs the server. */
  | "not_running";

/** Whether a server is starting or installing: its tools may be incomplete, and nothing needs fixing. */
export function isStarting(state: string): boolean {
  return state === "starting" || state === "installing";
}

/** Whether a server that is not up may have unknown tools; a disabled one has none. */
export function isAway({ state, toolCount }: { state: string; toolCount: number }): boolean {
  if (isStarting(state)) return true;
  return toolCount === 0 && ["paused", "failed", "needs_login"].includes(state);
}

/** One server as the console, the API and the CLI show it. */
export interface ServerStatus {
  name: ServerName;
  type: ServerSpec["type"];
  source: ServerSource;
  state: ServerState;
  /** The state in words a person can act on. */
  reason: string;
  lastError?: string;
  /** When it is tried again, in ms since the epoch, where it is by itself. */
  retryAt?: number;
  /** When it entered this state, in ms since the epoch. */
  since: number;
  toolCount: number;
  latencyMs?: number;
}

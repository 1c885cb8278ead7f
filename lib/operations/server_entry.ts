import * as z from "zod";
import { GatewayError } from "../core/errors.ts";
import { secretNames } from "../core/secret_reference.ts";
import {
  isProgram,
  isRemote,
  ProgramServer,
  type ProgramSpec,
  RemoteServer,
  type ServerSpec,
  transportTypes,
} from "../core/server.ts";
import { KEPT_FIELDS, withoutKeptReferences } from "../servers/spec.ts";
import { agreeToSecrets, refuseSecretsFromElsewhere } from "../trust/secret_consent.ts";
import { type FieldHints, fieldHints } from "./fields.ts";
import type { OperationCall } from "./operation.ts";
import type { ServersAdmin } from "./servers_admin.ts";

export const KnownServer = z.string().describe("The server's name").register(fieldHints, {
  completes: "server",
});

const { shape: remote } = RemoteServer;
const { shape: program } = ProgramServer;

/** How a server is reached: by url or by command. */
const REACH = {
  url: remote.url.optional().describe("URL of an HTTP server").register(fieldHints, {
    completes: "nothing",
  }),
  type: z.enum([...transportTypes("address"), ...transportTypes("program")]).optional()
    .describe("Transport for the url (default: http)")
    .register(fieldHints, {
      placeholder: "TYPE",
      help: "With --url: http (the default) or sse",
      choices: transportTypes("address"),
    }),
  headers: z.record(z.string(), z.string()).optional().describe("Headers to send").register(
    fieldHints,
    {
      flag: "header",
      placeholder: '"K: V"',
      help: "With --url: a header; can be repeated",
    },
  ),
  command: z.string().min(1).optional().describe("Command that starts a local server")
    .register(fieldHints, { isHidden: true }),
  args: z.array(z.string()).optional().describe("The program's arguments")
    .register(fieldHints, { isHidden: true }),
  env: z.record(z.string(), z.string()).optional().describe("The program's environment variables")
    .register(
      fieldHints,
      {
        placeholder: "K=V",
        help: "An environment variable for the program; can be repeated",
      },
    ),
  cwd: z.string().optional().describe("The program's working directory").register(fieldHints, {
    placeholder: "FOLDER",
    completes: "file",
  }),
  lazy: forPeople(program.lazy, "Start the program on its first call", {}),
  pin: forPeople(program.pin, "Run the pinned version of its npx or uvx package", {
    help: "Run the pinned version of its npx or uvx package; --no-pin runs whatever is newest",
  }),
  allowPrivate: forPeople(remote.allowPrivate, "Allow a private address", { isHidden: true }),
};

const isolation = forPeople(
  program.isolation,
  "How the program is kept apart from the rest of the machine",
  { isHidden: true },
);

/** Whether it is connected to at all, and which of its tools change things. */
const disabled = forPeople(remote.disabled, "Switch the server off", {
  help: "Switch the server off; --no-disabled switches it on",
});
const PATTERNS = {
  readOnlyTools: forPeople(remote.readOnlyTools, "Tools that only read", { isHidden: true }),
  writingTools: forPeople(remote.writingTools, "Tools that write", { isHidden: true }),
};

/** Which calls a server allows and how many, and what happens when its tools change. */
export const SERVER_LIMITS = {
  mode: forPeople(
    remote.mode,
    "Which calls are allowed: all, confirm (calls that change something need approval) or read-only",
    { placeholder: "MODE" },
  ),
  callsPerMinute: forPeople(
    remote.callsPerMinute,
    "Maximum number of calls per minute, all callers together",
    { placeholder: "N" },
  ),
  maxConcurrent: forPeople(
    remote.maxConcurrent,
    "Maximum number of concurrent calls, all callers together",
    { placeholder: "N" },
  ),
  maxResultTokens: forPeople(
    remote.maxResultTokens,
    "Maximum result size in tokens; the rest is read in pages",
    { placeholder: "N" },
  ),
  answers: forPeople(
    remote.answers,
    "What to do about hidden text, instructions to the model and secrets in what the server says: " +
      "off, mark or block",
    { placeholder: "MODE" },
  ),
  timeoutMs: forPeople(remote.timeoutMs, "Time limit for a call, in ms", {
    flag: "timeout",
    placeholder: "TIME",
    help: "Time limit for a call, such as 90s; each progress message restarts it",
  }),
  maxTimeoutMs: forPeople(
    remote.maxTimeoutMs,
    "Time limit for a call however much progress it reports, in ms",
    {
      flag: "max-timeout",
      placeholder: "TIME",
      help: "Time limit for a call however much progress it reports (default: 1h)",
    },
  ),
  startTimeoutMs: forPeople(remote.startTimeoutMs, "Time limit for a start, in ms", {
    flag: "start-timeout",
    placeholder: "TIME",
    help: "Time limit for a start, such as 2m (default: 60s), not counting an install",
  }),
  instance: forPeople(
    remote.instance,
    "Who shares an instance: shared (the default), client (one for each client) or root (one for " +
      "each client, in the folder of its first root)",
    { placeholder: "WORD" },
  ),
  idleTimeoutMs: forPeople(remote.idleTimeoutMs, "Idle time after which the program stops, in ms", {
    flag: "idle-timeout",
    placeholder: "TIME",
    help: "Idle time after which the program stops until its next call, such as 10m",
  }),
  trust: forPeople(remote.trust, "`trusted`, `normal` (the default) or `untrusted`", {
    placeholder: "WORD",
  }),
  changes: forPeople(
    remote.changes,
    "What to do when its tools change: hold, notify or allow",
    { placeholder: "POLICY" },
  ),
};

const waitSeconds = z.int().min(0).max(300).optional().describe(
  "How long to wait for the owner's consent (default: 50 if the client requests progress, else 0)",
).register(fieldHints, { isHidden: true });

/** A new server. */
export const NewEntry = z.strictObject({
  name: z.string().describe("The server's name").register(fieldHints, { completes: "nothing" }),
  ...REACH,
  disabled: forPeople(remote.disabled, "Switch the server off", { isHidden: true }),
  isolation,
  ...PATTERNS,
  ...SERVER_LIMITS,
  check: z.boolean().default(true).describe("Connect first, and store nothing if that fails")
    .register(fieldHints, { isForPeople: true, isHidden: true }),
  waitSeconds,
});

/** An entry that replaces another: what it leaves out of the limits stays, what is null goes. */
export const ChangedEntry = z.strictObject({
  name: KnownServer,
  ...REACH,
  ...nullable({ disabled, isolation, ...PATTERNS, ...SERVER_LIMITS }),
  version: z.string().optional().describe("Version of the entry that your change is based on")
    .register(fieldHints, { isForPeople: true, isHidden: true }),
  waitSeconds,
});

type Entry = z.infer<typeof NewEntry> | z.infer<typeof ChangedEntry>;

function forPeople<T extends z.ZodType>(schema: T, description: string, hints: FieldHints): T {
  const described = schema.describe(description);
  fieldHints.add(described, { ...hints, isForPeople: true });
  return described;
}

function nullable<S extends Record<string, z.ZodType>>(shape: S) {
  return Object.fromEntries(
    Object.entries(shape).map(([key, schema]) => [key, schema.nullable()]),
  ) as { [K in keyof S]: z.ZodNullable<S[K]> };
}

const Spec = z.discriminatedUnion("type", [ProgramServer, RemoteServer]);

/** The entry that an input describes: `command` makes it a program, `url` a remote one. */
export function specOf(entry: Entry): ServerSpec {
  const { name: _name, waitSeconds: _wait, ...rest }: Record<string, unknown> = entry;
  const { check: _check, version: _version, ...named } = rest;
  const fields = Object.fromEntries(
    Object.entries(named).filter(([, value]) => value !== undefined && value !== null),
  );
  if ((fields.url === undefined) === (fields.command === undefined)) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "A server needs either a url or a command",
    });
  }
  const parsed = Spec.safeParse({
    type: fields.command === undefined ? "http" : "stdio",
    ...fields,
  });
  if (!parsed.success) {
    const message = parsed.error.issues.map(({ path, message }) => [...path, message].join(": "))
      .join("; ");
    throw new GatewayError("INVALID_ARGUMENTS", { message });
  }
  // What a change leaves out stays: undefined says that it is to go.
  const gone = [...KEPT_FIELDS, "isolation"].filter((key) => named[key] === null);
  return { ...parsed.data, ...Object.fromEntries(gone.map((key) => [key, undefined])) };
}

/**
 * The entry of an input if its caller may use the secrets that it refers to; else throws. A model has
 * its user agree to them, and others have to be at this machine, except for what is there already.
 */
export async function admittedSpec(
  admin: ServersAdmin,
  verb: "add" | "change",
  entry: Entry,
  call: OperationCall,
): Promise<ServerSpec> {
  const { name } = entry;
  const spec = specOf(entry);
  if (call.via === "mcp") {
    // Before the question: a name that cannot be used must not become part of it.
    await (verb === "add" ? admin.checkFree(name) : admin.checkChangeable(name));
    const question = `An MCP client asks Quartermaster to ${verb} the server "${name}"`;
    await agreeToSecrets(question, spec, call);
    // The owner did not choose this server: its tool changes are held for review.
    return { ...spec, trust: "untrusted" };
  }
  if (call.isLocal || verb === "add") {
    refuseSecretsFromElsewhere(spec, call.isLocal);
    return spec;
  }
  const version = "version" in entry ? entry.version : undefined;
  const { spec: shown } = await admin.read(name, version);
  const kept = withoutKeptReferences(spec, shown);
  refuseSecretsFromElsewhere(withoutKeptPlaces(kept, shown), call.isLocal);
  return kept;
}

/** Without the command line or the address, where it is the one that is there already. */
function withoutKeptPlaces(wanted: ServerSpec, shown: ServerSpec): ServerSpec {
  if (isProgram(wanted)) {
    const line = ({ command, args, cwd }: ProgramSpec) => JSON.stringify([command, args, cwd]);
    const isSame = isProgram(shown) && line(shown) === line(wanted);
    return isSame ? { ...wanted, args: [] } : wanted;
  }
  const isSame = isRemote(wanted) && isRemote(shown) && shown.url === wanted.url;
  return isSame ? { ...wanted, url: "" } : wanted;
}

/** If a secret is to blame, which the message says, the address and the command are not. */
export function withoutGuess(verb: "add" | "change", error: unknown, spec: ServerSpec): unknown {
  if (!(error instanceof GatewayError) || error.code !== "SERVER_DISCONNECTED") return error;
  // With what follows the name: it may begin another secret's.
  const isSecret = secretNames(spec).some((name) =>
    [" ", ": "].some((end) => error.message.includes(`the secret ${name}${end}`))
  );
  if (!isSecret) return error;
  return new GatewayError(error.code, {
    message: error.message,
    recoveryAction: `Set the secret, then ${verb} the server again`,
    recoverySteps: [`Nothing was stored: ${verb} the server again once the secret is set`],
    cause: error,
  });
}

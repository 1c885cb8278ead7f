import * as z from "zod";
import { LockFile } from "../servers/packages/lock_file.ts";
import { fieldHints } from "./fields.ts";
import { MANAGES, operation, READS_GUARDED } from "./operation.ts";
import { PackageUpdate, ServerPackages } from "./packages_admin.ts";
import { KnownServer } from "./server_entry.ts";

const OnlyServer = z.string().optional().describe("Only this server")
  .register(fieldHints, { completes: "server" });

/** Nobody decides on a release whose tools they have not seen. */
const Decided = z.strictObject({
  name: KnownServer,
  fingerprint: z.string().min(1).describe("Fingerprint of the update you decide on")
    .register(fieldHints, { isHidden: true }),
});

const list = operation({
  ...READS_GUARDED,
  name: "package.list",
  title: "List packages",
  description: "List the packages that servers of npx and uvx run, and updates to review.",
  input: z.strictObject({ name: OnlyServer }),
  output: z.object({ servers: z.array(ServerPackages) }),
  cli: "package list",
  run: async ({ packages }, { name }) => ({ servers: await (await packages()).list(name) }),
});

const check = operation({
  ...MANAGES,
  name: "package.check",
  title: "Look for package updates",
  description: "Ask the registries for newer releases that the servers' entries allow. None runs.",
  input: z.strictObject({ name: OnlyServer }),
  output: z.object({
    updates: z.array(PackageUpdate),
    failed: z.array(z.object({ server: z.string(), code: z.string(), message: z.string() })),
  }),
  idempotent: true,
  cli: "package check [NAME]",
  run: async ({ packages }, { name }, { signal }) => await (await packages()).check(name, signal),
});

const tryUpdate = operation({
  ...MANAGES,
  name: "package.try",
  title: "Try a package update",
  description:
    "Install the newest release beside the one that runs, start it once, and compare its tools.",
  input: z.strictObject({ name: KnownServer }),
  output: z.object({ update: PackageUpdate }),
  // It runs code that nobody has seen.
  from: "this-machine",
  cli: "package try NAME",
  run: async ({ packages }, { name }, { signal }) => ({
    update: await (await packages()).try(name, signal),
  }),
});

const update = operation({
  ...MANAGES,
  name: "package.update",
  title: "Update a server's packages",
  description:
    "Run the tried release of its npx or uvx package, and accept the changes of its tools.",
  input: Decided,
  output: z.object({
    packages: ServerPackages,
    problem: z.string().exactOptional().describe("Why the server did not start with them"),
  }),
  cli: "server update NAME",
  run: async ({ packages }, { name, fingerprint }, { principal, signal }) =>
    await (await packages()).update(name, fingerprint, { principal }, signal),
  text({ packages: { server, packages }, problem }) {
    const versions = packages.map(({ name, version }) => `${name} ${version}`).join(", ");
    return problem === undefined
      ? `${server} runs ${versions}.`
      : `${server} was updated to ${versions}, but did not start: ${problem}. Changes to its tools ` +
        "may need a review once it starts.";
  },
});

const refuse = operation({
  ...MANAGES,
  name: "package.refuse",
  title: "Refuse a package update",
  description: "Keep what runs, and do not offer this release again.",
  input: Decided,
  output: z.object({ refused: z.string() }),
  cli: "package refuse NAME",
  async run({ packages }, { name, fingerprint }) {
    await (await packages()).refuse(name, fingerprint);
    return { refused: name };
  },
  text: ({ refused }) => `Refused the update of ${refused}.`,
});

const forget = operation({
  ...MANAGES,
  name: "package.forget",
  title: "Forget a server's pinned packages",
  description: "Pin whatever the registry has when the server next starts.",
  input: z.strictObject({ name: KnownServer }),
  output: z.object({ forgotten: z.string() }),
  // The next start runs code that nobody has seen.
  from: "this-machine",
  cli: "package forget NAME",
  async run({ packages }, { name }) {
    await (await packages()).forget(name);
    return { forgotten: name };
  },
  text: ({ forgotten }) => `The next start of ${forgotten} pins its packages again.`,
});

const lock = operation({
  ...READS_GUARDED,
  name: "package.lock",
  title: "Export the pinned packages",
  description: "Get the pinned packages as the content of an mcp.lock beside the config file.",
  input: z.strictObject({}),
  output: LockFile,
  cli: "package lock",
  run: async ({ packages }) => await (await packages()).lockFile(),
});

export const PACKAGE_OPERATIONS = { list, check, try: tryUpdate, update, refuse, forget, lock };

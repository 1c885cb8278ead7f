import { GatewayError } from "../core/errors.ts";
import { shownLine } from "../core/text.ts";
import type { OutputOf } from "../operations/operation.ts";
import { PACKAGE_OPERATIONS } from "../operations/packages.ts";
import type { PackageUpdate, ServerPackages } from "../operations/packages_admin.ts";
import type { PackageVersion } from "../storage/packages_repository.ts";
import type { CommandInput } from "./command.ts";
import { agree, type CommandExtras, YES } from "./operation_command.ts";
import type { OperationTarget } from "./operation_target.ts";
import { diffLines, verdictWord } from "./review_commands.ts";
import { listing, minuteOf, type Paint, painter } from "./terminal.ts";

type Packages = typeof PACKAGE_OPERATIONS;

/** Whether `server update` names nothing to change, so that it means the server's packages. */
export function isPackageUpdate({ flags, afterDashes }: CommandInput): boolean {
  return afterDashes.length === 0 &&
    [...flags.keys()].every((flag) => ["yes", "json"].includes(flag));
}

export const PACKAGE_EXTRAS: Record<string, CommandExtras> = {
  "package.list": {
    details: ["`package check` looks for updates; the gateway does that once a day."],
    show: ({ servers }: OutputOf<Packages["list"]>, { paint }) =>
      listing(servers, { paint, empty: "No server is started by npx or uvx.\n" }, {
        SERVER: ({ server }) => server,
        PACKAGE: ({ wanted }) => shownLine(wanted.join(", ")),
        PINNED: ({ packages, problem = "" }) => shownLine(versionText(packages) || problem),
        SINCE: ({ pinnedAt }) => pinnedAt === undefined ? "" : minuteOf(pinnedAt),
        UPDATE: ({ update }) => shownLine(versionText(update?.to ?? [])),
      }),
    offline: "",
  },
  "package.check": {
    waiting: "Asking the registries ...",
    show: ({ updates, failed }: OutputOf<Packages["check"]>) =>
      [
        ...updates.map((update) => `${changeText(update)}\n`),
        ...failed.map(({ server, message }) => `${server}: ${shownLine(message)}\n`),
        ...updates.length > 0
          ? ["Try and review one with `quartermaster server update NAME`.\n"]
          : [],
        ...updates.length + failed.length === 0 ? ["No updates.\n"] : [],
      ].join(""),
    exitCode: ({ failed }: OutputOf<Packages["check"]>) => failed.length > 0 ? 1 : 0,
    offline: "",
  },
  "package.try": {
    waiting: "Trying the update ...",
    show: ({ update }: OutputOf<Packages["try"]>, { paint }) => updateText(update, paint),
    offline: "",
  },
  "package.update": {
    usage: "server update NAME [--yes]",
    details: [
      "Without anything to change, installs the newest release of an npx or uvx server beside the one",
      "that runs, starts it once, and shows how its tools differ. It runs once you agree.",
    ],
    flags: [YES],
    isMeant: isPackageUpdate,
    async prepare(given, command, target) {
      const update = await tried(target, given);
      const question = `Run ${versionText(update.to)} from now on?`;
      agree(
        "server update",
        shownLine(question),
        command,
        updateText(update, painter(command.env)),
      );
      return { ...given, fingerprint: update.fingerprint };
    },
    exitCode: ({ problem }: OutputOf<Packages["update"]>) => problem === undefined ? 0 : 1,
    offline: "",
  },
  "package.refuse": {
    async prepare(given, _, target) {
      const { servers }: { servers: ServerPackages[] } = await target.run(
        PACKAGE_OPERATIONS.list,
        given,
      );
      const update = servers[0]?.update;
      if (update) return { ...given, fingerprint: update.fingerprint };
      throw new GatewayError("NOT_FOUND", {
        message: `No update of "${given.name}" is waiting for a decision`,
        next: [{ label: "Look for updates", operation: "package.check" }],
      });
    },
    offline: "",
  },
  "package.forget": {
    flags: [YES],
    prepare(given, command) {
      const question = `Let ${given.name} run what its registry has at its next start, unseen?`;
      agree("package forget", shownLine(question), command);
      return Promise.resolve(given);
    },
    offline: "",
  },
  "package.lock": {
    details: [
      "Example:",
      "  quartermaster package lock > mcp.lock",
      "",
      "An mcp.lock beside a config file decides which packages the servers of that file run.",
    ],
    show: (file: OutputOf<Packages["lock"]>) => `${JSON.stringify(file, null, 2)}\n`,
    offline: "",
  },
};

async function tried(
  target: Pick<OperationTarget, "run">,
  { name }: Record<string, unknown>,
): Promise<PackageUpdate> {
  const { update }: { update: PackageUpdate } = await target.run(PACKAGE_OPERATIONS.try, { name });
  return update;
}

function versionText(packages: readonly PackageVersion[]): string {
  return packages.map(({ name, version }) => `${name} ${version}`).join(", ");
}

function changeText({ server, from, to, publishedAt }: PackageUpdate): string {
  const changes = to.map(({ name, version }, nth) => `${name} ${from[nth]?.version} -> ${version}`);
  const date = publishedAt === undefined ? "" : `, published ${minuteOf(publishedAt)}`;
  return shownLine(`${server}: ${changes.join(", ")}${date}`);
}

function updateText(update: PackageUpdate, paint: Paint): string {
  const { to, tools, fingerprint, isTried } = update;
  const lines = [
    changeText(update),
    ...to.map(({ name, integrity }) => `  ${shownLine(`${name}: ${integrity}`)}`),
    `  fingerprint ${fingerprint}`,
    ...isTried && tools.length === 0 ? ["  Its tools are the same."] : [],
    ...tools.flatMap(({ tool, kind, diff, definition }) => [
      `  ${shownLine(tool)}  ${kind}${diff ? `  ${verdictWord(diff, paint)}` : ""}`,
      ...diff ? diffLines(diff, paint) : [],
      ...definition === undefined ? [] : [`    ${shownLine(definition)}`],
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

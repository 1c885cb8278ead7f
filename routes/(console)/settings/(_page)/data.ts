import type { Gateway } from "../../../../lib/gateway.ts";
import { GatewayError } from "../../../../lib/core/errors.ts";
import type {
  AppliedRestore,
  StagedRestore,
  WaitingBackup,
} from "../../../../lib/storage/staged_restore.ts";
import type { FormError } from "../../../../lib/console/errors.ts";

export interface SettingsData {
  kind: "memory" | "file" | "remote" | "deploy";
  place: string;
  bytes: number | undefined;
  /** Whether whoever asks can have a backup; it holds secrets, and is made on a disk. */
  backup: "here" | "elsewhere" | "no-disk";
  /** Whether a backup replaces all this at the next start, or was to at this one. */
  restore: "waits" | "failed" | "done" | undefined;
  retention: { what: string; kept: string }[];
}

export async function settingsData(
  gateway: Pick<Gateway, "store" | "options" | "platform" | "restore">,
  isFromThisMachine: boolean,
): Promise<SettingsData> {
  const { location } = gateway.store;
  const { options } = gateway.options;
  return {
    kind: location.kind,
    place: location.kind === "file" ? location.path : location.label,
    bytes: location.kind === "file" ? await sizeOf(location.path) : undefined,
    restore: await restoreState(gateway.restore),
    backup: !gateway.platform.canWrite ? "no-disk" : isFromThisMachine ? "here" : "elsewhere",
    retention: [
      {
        what: "Calls in the activity log",
        kept: `${options.activityRetention} days, about ${
          options.activityCalls.toLocaleString("en-US")
        } of them`,
      },
      { what: "Evaluation runs", kept: `${options.evalRetention} days; results are kept` },
      { what: "Log files", kept: `the last ${options.logRetention}` },
    ],
  };
}

async function restoreState(
  { staged, applied }: Gateway["restore"],
): Promise<SettingsData["restore"]> {
  if (applied?.ok === false) return "failed";
  if ((await staged?.find())?.staged !== undefined) return "waits";
  return applied === undefined ? undefined : "done";
}

/** With the parts that the database keeps beside it; undefined where it cannot be read. */
async function sizeOf(path: string): Promise<number | undefined> {
  const sizes = await Promise.all(
    [path, `${path}-wal`].map((part) => Deno.stat(part).then(({ size }) => size, () => undefined)),
  );
  return sizes[0] === undefined ? undefined : sizes[0] + (sizes[1] ?? 0);
}

type RestoreGateway = Pick<Gateway, "restore" | "store" | "secrets"> & {
  audit?: Pick<Gateway["audit"], "note">;
};

export interface RestorePage {
  /** Whether whoever asks may replace the store, and whether a start can. */
  possible: "here" | "elsewhere" | "no-file";
  place?: string;
  /** A backup that is whole and waits for confirmation. */
  checked?: Awaited<ReturnType<typeof compared>>;
  staged?: WaitingBackup;
  /** What this start made of one. */
  applied?: AppliedRestore;
  refused?: FormError;
}

const FAMILIES: readonly [root: string, what: string][] = [
  ["servers", "Servers added in the console"],
  ["toolsets", "Toolsets"],
  ["promotions", "Promoted descriptions"],
  ["candidates", "Candidate descriptions"],
  ["golden_prompts", "Golden prompts, all versions"],
  ["access_tokens", "Access tokens"],
  ["settings", "Settings changed at runtime"],
];

export async function restorePage(
  gateway: RestoreGateway,
  isFromThisMachine: boolean,
): Promise<RestorePage> {
  const { staged: waiting, applied } = gateway.restore;
  if (waiting === undefined) return { possible: "no-file" };
  if (!isFromThisMachine) return { possible: "elsewhere" };
  const { checked, staged } = await waiting.find();
  return {
    possible: "here",
    place: waiting.path,
    ...(checked && { checked: await compared(gateway, checked) }),
    ...(staged && { staged }),
    ...(applied && { applied }),
  };
}

export async function changeRestore(
  gateway: RestoreGateway,
  fields: URLSearchParams,
  isFromThisMachine: boolean,
): Promise<void> {
  const staged = resolveStaged(gateway, isFromThisMachine);
  const subject = "data store";
  switch (fields.get("step")) {
    case "confirm": {
      await staged.confirm(fields.get("id") ?? "");
      const { createdAt, entries } = (await staged.find()).staged ?? {};
      const after = { createdAt, entries };
      return gateway.audit?.note({ action: "data.restore.choose", subject, after });
    }
    case "discard":
      return await staged.discard("checked");
    case "undo": {
      const { staged: waiting } = await staged.find();
      await staged.discard("staged");
      if (!waiting) return;
      const { createdAt, entries } = waiting;
      const before = { createdAt, entries };
      return gateway.audit?.note({ action: "data.restore.cancel", subject, before });
    }
    default:
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "Cannot process the backup: unknown step",
        recoveryAction: "Reload the page and try again",
      });
  }
}

/** Takes a file that somebody gives; keeps it only where it is a whole backup. */
export async function takeBackup(
  gateway: RestoreGateway,
  file: File,
  isFromThisMachine: boolean,
): Promise<void> {
  await resolveStaged(gateway, isFromThisMachine).check(file.stream(), file.name);
}

/** Throws for whoever may not, or where a start can replace nothing. */
function resolveStaged(
  { restore: { staged } }: Pick<Gateway, "restore">,
  isFromThisMachine: boolean,
): StagedRestore {
  if (staged === undefined) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot restore here: the data store is not a file on this machine",
      recoveryAction: "Stop every gateway on the store, then run `quartermaster restore FILE`",
    });
  }
  if (!isFromThisMachine) {
    throw new GatewayError("ACCESS_DENIED", {
      message: "Cannot restore a backup from another machine: it replaces all data",
      recoveryAction: "Restore it on the gateway's own machine",
      recoverySteps: [
        "Open the gateway's local URL on that machine, unless it has a --public-url",
        "Or stop the gateway and run `quartermaster restore FILE` on that machine",
      ],
    });
  }
  return staged;
}

async function compared({ store, secrets }: RestoreGateway, backup: WaitingBackup) {
  const rows = await Promise.all(FAMILIES.map(async ([root, what]) => {
    let here = 0;
    for await (const _ of store.list({ prefix: [root] })) here++;
    return { what, inBackup: backup.counts[root] ?? 0, here };
  }));
  const named = rows.reduce((sum, { inBackup }) => sum + inBackup, 0);
  return {
    backup,
    rows: rows.filter(({ inBackup, here }) => inBackup + here > 0),
    others: backup.entries - named,
    /** What must be set again, because it was sealed with another key than the one here. */
    sealed: await (await secrets()).sealedElsewhere(backup.sealed),
  };
}

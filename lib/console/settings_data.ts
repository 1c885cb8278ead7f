import { join } from "@std/path";
import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import { backupStore } from "../storage/backup.ts";

/** Where everything is kept, how large it is, and for how long. */
export interface SettingsData {
  kind: "memory" | "file" | "remote" | "deploy";
  place: string;
  bytes?: number;
  /** Whether whoever asks can have a backup; it holds secrets, and is made on a disk. */
  backup: "here" | "elsewhere" | "no-disk";
  /** Whether a backup replaces all this at the next start, or was to at this one. */
  restore?: "waits" | "failed" | "done";
  retention: { what: string; kept: string }[];
}

export async function settingsData(
  gateway: Pick<Gateway, "store" | "options" | "platform" | "restore">,
  isFromHere: boolean,
): Promise<SettingsData> {
  const { location } = gateway.store;
  const { options } = gateway.options;
  const restore = await restoreState(gateway.restore);
  const bytes = location.kind === "file" ? await sizeOf(location.path) : undefined;
  return {
    kind: location.kind,
    place: location.kind === "file" ? location.path : location.label,
    ...(bytes === undefined ? {} : { bytes }),
    ...(restore === undefined ? {} : { restore }),
    backup: !gateway.platform.canWrite ? "no-disk" : isFromHere ? "here" : "elsewhere",
    retention: [
      {
        what: "Calls in the activity log",
        kept: `${options.activityRetention} days, about ${
          options.activityCalls.toLocaleString("en-US")
        } of them`,
      },
      { what: "Evaluation runs", kept: `${options.evalRetention} days; their results stay` },
      { what: "Log files", kept: `the last ${options.logRetention}` },
    ],
  };
}

/** The whole store as a file to keep, secrets included: for the machine's own user alone. */
export async function backupResponse(
  { store, platform, audit }: Pick<Gateway, "store" | "platform"> & {
    audit?: Pick<Gateway["audit"], "note">;
  },
  isFromHere: boolean,
  now = new Date(),
): Promise<Response> {
  if (!platform.canWrite) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot make a backup here: this platform has no disk",
      recoveryAction: "Make it with the command line, on a machine that reaches the same store",
    });
  }
  if (!isFromHere) {
    throw new GatewayError("ACCESS_DENIED", {
      message: "Cannot give out a backup: it holds secrets, and is asked for from elsewhere",
      recoveryAction: "Make it on the gateway's own machine",
      recoverySteps: [
        "Use the gateway's local address, on the machine itself, unless it has a --public-url",
        "Or `deno task cli backup FILE` there",
      ],
    });
  }
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    const { file, entries } = await backupStore(store, join(folder, "backup"));
    const opened = await Deno.open(file);
    audit?.note({ action: "data.backup", subject: "data store", after: { entries } });
    const name = `quartermaster-${now.toISOString().slice(0, 10)}.backup`;
    return new Response(opened.readable, {
      headers: {
        "content-type": "application/octet-stream",
        "content-disposition": `attachment; filename="${name}"`,
        "cache-control": "no-store",
      },
    });
  } finally {
    // What is open can be read to its end; nobody else finds it any more.
    await Deno.remove(folder, { recursive: true });
  }
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

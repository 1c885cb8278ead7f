import type { Gateway } from "../compose.ts";
import { GatewayError } from "../core/errors.ts";
import type { AppliedRestore } from "../storage/apply_restore.ts";
import type { StagedRestore, WaitingBackup } from "../storage/staged_restore.ts";
import type { FormError } from "./form_error.ts";

type RestoreGateway = Pick<Gateway, "restore" | "store" | "secrets"> & {
  audit?: Pick<Gateway["audit"], "note">;
};

export interface RestorePage {
  /** Whether whoever asks may replace the store, and whether a start can. */
  possible: "here" | "elsewhere" | "no-file";
  /** The data file. */
  place?: string;
  /** A backup that is whole and waits for a word. */
  checked?: {
    backup: WaitingBackup;
    rows: RestoreRow[];
    others: number;
    /** What must be set again, because it was sealed with another key than the one here. */
    sealed: string[];
  };
  /** What the next start puts in place. */
  staged?: WaitingBackup;
  /** What this start made of one. */
  applied?: AppliedRestore;
  refused?: FormError;
}

/** How many there are of a thing, before and after. */
export interface RestoreRow {
  what: string;
  inBackup: number;
  here: number;
}

const FAMILIES: readonly [root: string, what: string][] = [
  ["servers", "Servers that were added here"],
  ["toolsets", "Toolsets"],
  ["promotions", "Promoted descriptions"],
  ["candidates", "Candidate descriptions"],
  ["golden_prompts", "Golden prompts, all versions"],
  ["access_tokens", "Access tokens"],
  ["settings", "Settings made while it ran"],
];

export async function restorePage(
  gateway: RestoreGateway,
  isFromHere: boolean,
): Promise<RestorePage> {
  const { staged: waiting, applied } = gateway.restore;
  if (waiting === undefined) return { possible: "no-file" };
  if (!isFromHere) return { possible: "elsewhere" };
  const { checked, staged } = await waiting.find();
  return {
    possible: "here",
    place: waiting.path,
    ...(checked === undefined ? {} : { checked: await compared(gateway, checked) }),
    ...(staged === undefined ? {} : { staged }),
    ...(applied === undefined ? {} : { applied }),
  };
}

/** What a form on the page asks for. */
export async function changeRestore(
  gateway: RestoreGateway,
  fields: URLSearchParams,
  isFromHere: boolean,
): Promise<void> {
  const staged = resolveStaged(gateway, isFromHere);
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
        message: "Cannot tell what to do with the backup",
        recoveryAction: "Load the page again and choose one of what it offers",
      });
  }
}

/** Takes a file that somebody gives; keeps it only where it is a whole backup. */
export async function takeBackup(
  gateway: RestoreGateway,
  file: File,
  isFromHere: boolean,
): Promise<void> {
  await resolveStaged(gateway, isFromHere).check(file.stream(), file.name);
}

/** Throws for whoever may not, or where a start can replace nothing. */
function resolveStaged(
  { restore: { staged } }: Pick<Gateway, "restore">,
  isFromHere: boolean,
): StagedRestore {
  if (staged === undefined) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message: "Cannot restore here: the data store is not a file on this machine",
      recoveryAction: "Stop every gateway on the store, then run `deno task cli restore FILE`",
    });
  }
  if (!isFromHere) {
    throw new GatewayError("ACCESS_DENIED", {
      message: "Cannot restore a backup: it replaces everything, and is asked for from elsewhere",
      recoveryAction: "Do it on the gateway's own machine",
      recoverySteps: [
        "Use the gateway's local address, on the machine itself, unless it has a --public-url",
        "Or stop the gateway and run `deno task cli restore FILE` there",
      ],
    });
  }
  return staged;
}

async function compared({ store, secrets }: RestoreGateway, backup: WaitingBackup) {
  const rows = await Promise.all(FAMILIES.map(async ([root, what]): Promise<RestoreRow> => {
    let here = 0;
    for await (const _ of store.list({ prefix: [root] })) here++;
    return { what, inBackup: backup.counts[root] ?? 0, here };
  }));
  const named = rows.reduce((sum, { inBackup }) => sum + inBackup, 0);
  return {
    backup,
    rows: rows.filter(({ inBackup, here }) => inBackup + here > 0),
    others: backup.entries - named,
    sealed: await (await secrets()).sealedElsewhere(backup.sealed),
  };
}

import { stemOf } from "../text.ts";

/** Verbs by what they do to their object. A verb may stand in several groups. */
const GROUPS: Readonly<Record<string, string>> = {
  create:
    "create make new add insert append init generate draft write compose put save store register build provision publish submit file post open remember log record",
  delete:
    "delete remove rm erase drop destroy clear purge trash unlink forget discard uninstall clean",
  read:
    "get read show view fetch display describe retrieve inspect check lookup look see load download what which who where is tell summarize",
  list: "list enumerate browse show get all what which",
  find: "find search query locate lookup look grep discover get filter where who which",
  update:
    "update edit modify change set patch rename replace alter adjust mark assign transition resolve complete close write put fill move",
  open: "open start launch run begin resume enable activate boot create navigate go visit",
  close:
    "close stop end kill terminate halt cancel quit exit shutdown pause disable finish abort update merge",
  run: "run execute exec start invoke call trigger launch kick rerun retry evaluate test query",
  restart: "restart reboot reload rerun retry start stop recreate",
  send:
    "send post message reply publish share notify email mail write deliver forward create tell draft",
  move: "move mv rename transfer relocate transition",
  copy: "copy duplicate clone fork",
  upload: "upload push put import add create write",
  download: "download pull export fetch get save read",
  merge: "merge combine join concatenate",
  convert: "convert transform translate parse extract turn",
  click: "click press tap",
  undo: "undo revert reset restore rollback unstage",
  switch: "switch checkout change select",
  stage: "stage add",
  compare: "compare diff",
  schedule: "schedule book plan create add put",
};

/** Groups of which one undoes the other, or that nobody confuses. */
const OPPOSITES: Readonly<Record<string, string>> = {
  create: "delete close",
  delete: "create read list find send copy upload open run",
  read: "delete create send",
  list: "delete create update send",
  find: "delete create update send",
  open: "close delete",
  close: "open create list",
  send: "delete list",
  upload: "download delete",
  download: "upload delete",
  undo: "create",
  merge: "create delete",
  update: "delete",
  run: "delete close",
};

const byStem = new Map<string, Set<string>>();
for (const [group, verbs] of Object.entries(GROUPS)) {
  for (const verb of verbs.split(" ")) {
    const stem = stemOf(verb);
    byStem.set(stem, (byStem.get(stem) ?? new Set()).add(group));
  }
}

export function isVerb(stem: string): boolean {
  return byStem.has(stem);
}

/**
 * How well a tool's verb answers a query's: 1 for the same verb, 0.6 for one that may do the same,
 * -1 for one that does the opposite, and 0 where nothing is known.
 */
export function agreementOf(asked: readonly string[], offered: string | undefined): number {
  if (offered === undefined || asked.length === 0) return 0;
  if (asked.includes(offered)) return 1;
  const own = byStem.get(offered) ?? NONE;
  let isOpposite = false;
  for (const verb of asked) {
    const groups = byStem.get(verb) ?? NONE;
    if (groups.values().some((group) => own.has(group))) return 0.6;
    isOpposite ||= groups.values().some((group) =>
      (OPPOSITES[group] ?? "").split(" ").some((other) => own.has(other))
    );
  }
  return isOpposite ? -1 : -0.4;
}

const NONE: ReadonlySet<string> = new Set();

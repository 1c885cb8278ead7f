import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import type { ReviewItem } from "../surfaces/review_item.ts";
import type { CommandInput } from "./command.ts";
import { itemText } from "./review_text.ts";
import type { ReviewClient } from "./review_client.ts";
import { resolveGateways } from "./servers_access.ts";
import { ask, isInteractive, painter, print } from "./terminal.ts";

export const YES_FLAG = { flag: "yes", meaning: "Do not ask; needed where there is no terminal" };
export const FINGERPRINT_FLAG = {
  flag: "fingerprint",
  placeholder: "TEXT",
  meaning: "Decide only if it is this definition; `review show` has it",
};

/** What is held is in the memory of a gateway that runs. */
export async function openReviews(input: CommandInput): Promise<ReviewClient> {
  const [found] = await resolveGateways(input);
  return found!.client.reviews();
}

/** The tool that a command names, as `SERVER.TOOL`: it need not be one that is listed. */
export function namedSubject(
  command: string,
  { positionals }: Pick<CommandInput, "positionals">,
  others: readonly string[] = [],
): { server: string; tool: string; rest: string[] } {
  const [name = "", ...rest] = positionals;
  const [, server, tool] = /^([\w-]+)\.(.+)$/s.exec(name) ?? [];
  if (server !== undefined && tool !== undefined && rest.length === others.length) {
    return { server, tool, rest };
  }
  const words = ["SERVER.TOOL", ...others].join(" ");
  throw configError(
    `${command} takes ${words}`,
    `Write it as: deno task cli ${command} ${words}`,
  );
}

/** The definition to decide on: what is there, or exactly the one that was named. */
export async function itemToDecide(
  reviews: ReviewClient,
  subject: { server: string; tool: string },
  { flags }: Pick<CommandInput, "flags">,
  isWanted: (item: ReviewItem) => boolean,
): Promise<ReviewItem> {
  const items = await reviews.show(subject.server, subject.tool);
  const wanted = flags.get("fingerprint");
  const fitting = items.filter(isWanted);
  const item = fitting.find(({ fingerprint }) => fingerprint === wanted) ?? fitting[0];
  if (!item) {
    const quarantined = items.find(({ state }) => state === "quarantined");
    if (quarantined) throw inQuarantine(quarantined);
    throw new GatewayError("NOT_FOUND", {
      message: `Nothing about ${subject.server}.${subject.tool} waits for this`,
      recoverySteps: ["See `deno task cli review list`"],
    });
  }
  const versions = fitting.filter(({ state }) => state === item.state);
  if (typeof wanted !== "string" && versions.length > 1) {
    throw new GatewayError("INVALID_ARGUMENTS", {
      message:
        `Clients are listed ${versions.length} versions of ${subject.server}.${subject.tool}`,
      recoverySteps: [
        `Look at them with \`deno task cli review show ${subject.server}.${subject.tool}\``,
        "Name the one that you decide on with --fingerprint",
      ],
    });
  }
  if (typeof wanted !== "string" || wanted === item.fingerprint) return item;
  throw new GatewayError("CONFLICT", {
    message: `${subject.server}.${subject.tool} has changed again: it is ${item.fingerprint}`,
    recoverySteps: ["Look at it again with `deno task cli review show`, then decide"],
  });
}

/** What was found stands until it is waived, rule by rule. */
function inQuarantine({ server, tool, findings }: ReviewItem): GatewayError {
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  return new GatewayError("TOOL_QUARANTINED", {
    message: `${server}.${tool} is in quarantine for what was found in it, not for a change`,
    recoverySteps: [
      `Look at it with \`deno task cli review show ${server}.${tool}\``,
      "If you trust it all the same, waive each finding:",
      ...rules.map((rule) =>
        `\`deno task cli review waive ${server}.${tool} ${rule} --reason TEXT\``
      ),
    ],
  });
}

/** Asks before protection is loosened, with all there is to see. */
export function agree(command: string, question: string, input: CommandInput, item?: ReviewItem) {
  if (input.flags.get("yes") === true) return;
  if (input.flags.get("json") === true || !isInteractive()) {
    throw configError(`${command} cannot ask here`, "Give --yes to do it without a question");
  }
  if (item) print(itemText(item, painter(input.env)));
  if (ask(question)) return;
  throw new GatewayError("ACCESS_DENIED", { message: "Nothing was changed" });
}

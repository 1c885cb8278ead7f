import { configError } from "../config/problem.ts";
import { ChangePolicy, ServerTrust } from "../core/server.ts";
import type { ReviewPolicy } from "../surfaces/review_item.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { agree, openReviews, YES_FLAG } from "./review_command.ts";
import { tell } from "./review_decide.ts";
import { painter, print, printJson, table } from "./terminal.ts";

export function policyWords({ server, policy, trust }: ReviewPolicy): string {
  return `Changes of ${server}: ${policy}, trust: ${trust}`;
}

export const reviewPolicy: Command = {
  usage: "review policy [SERVER POLICY] [--trust WORD] [--yes]",
  meaning: "What becomes of changes that servers make to their tools: hold, notify or allow",
  details: [
    "`hold` serves a tool as it was until you approve the change, `notify` passes it on and tells",
    "you, `allow` says nothing. Servers of a config file have it there, as `changes` and `trust`.",
  ],
  flags: [
    { flag: "trust", placeholder: "WORD", meaning: "`trusted` or `untrusted`" },
    { ...YES_FLAG, meaning: "Do not ask before less is held; needed for that without a terminal" },
    JSON_FLAG,
  ],
  async run(input) {
    const { positionals: [server, given, ...others], flags } = input;
    const asJson = flags.get("json") === true;
    const policy = ChangePolicy.optional().safeParse(given);
    const trust = ServerTrust.optional().safeParse(flags.get("trust"));
    if (others.length > 0 || !policy.success || !trust.success) {
      throw configError(
        "review policy takes a server and hold, notify or allow",
        "Write it as: deno task cli review policy SERVER hold",
      );
    }
    const reviews = await openReviews(input);
    if (server === undefined) {
      const { policies } = await reviews.list();
      if (asJson) return printJson({ policies });
      const paint = painter(input.env);
      const heading = ["SERVER", "CHANGES", "TRUST"].map((word) => paint("gray", word));
      return print(
        table([heading, ...policies.map((each) => [each.server, each.policy, each.trust])]),
      );
    }
    const isLooser = policy.data === "allow" || policy.data === "notify" ||
      trust.data === "trusted";
    if (isLooser) agree("review policy", `Loosen what is held of ${server}?`, input);
    const body = { server, changes: policy.data, trust: trust.data };
    const done = await reviews.decide("policy", body);
    const after = (await reviews.list()).policies.find((each) => each.server === server);
    tell(after ? policyWords(after) : done, asJson);
  },
};

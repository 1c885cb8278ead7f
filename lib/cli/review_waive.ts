import { configError } from "../config/problem.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import {
  agree,
  FINGERPRINT_FLAG,
  itemToDecide,
  namedSubject,
  openReviews,
  YES_FLAG,
} from "./review_command.ts";
import { tell } from "./review_decide.ts";

export const reviewWaive: Command = {
  usage: "review waive SERVER.TOOL RULE --reason TEXT [--yes]",
  meaning: "Say of a finding that it is none, for this definition alone",
  details: ["With --undo it counts again."],
  flags: [
    { flag: "reason", placeholder: "TEXT", meaning: "Why; kept with your decision" },
    { flag: "undo", meaning: "Take the waiver back" },
    YES_FLAG,
    FINGERPRINT_FLAG,
    JSON_FLAG,
  ],
  async run(input) {
    const { server, tool, rest: [rule = ""] } = namedSubject("review waive", input, ["RULE"]);
    const reviews = await openReviews(input);
    const asJson = input.flags.get("json") === true;
    if (input.flags.get("undo") === true) {
      return tell(await reviews.decide("unwaive", { server, tool, rule }), asJson);
    }
    const reason = input.flags.get("reason");
    if (typeof reason !== "string" || reason.trim() === "") {
      throw configError("review waive needs a reason", "Give it with --reason TEXT");
    }
    const item = await itemToDecide(
      reviews,
      { server, tool },
      input,
      ({ findings }) => findings.some((finding) => finding.rule === rule),
    );
    agree("review waive", `Waive ${rule} for ${server}.${tool}?`, input, item);
    const { fingerprint } = item;
    tell(await reviews.decide("waive", { server, tool, fingerprint, rule, reason }), asJson);
  },
};

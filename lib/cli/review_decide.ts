import { type Command, JSON_FLAG } from "./command.ts";
import {
  agree,
  FINGERPRINT_FLAG,
  itemToDecide,
  namedSubject,
  openReviews,
  YES_FLAG,
} from "./review_command.ts";
import { inert, print, printJson } from "./terminal.ts";

export const reviewApprove: Command = {
  usage: "review approve SERVER.TOOL [--yes]",
  meaning: "Serve a change from now on; of what was passed on, say that you have seen it",
  flags: [YES_FLAG, FINGERPRINT_FLAG, JSON_FLAG],
  async run(input) {
    const subject = namedSubject("review approve", input);
    const reviews = await openReviews(input);
    const item = await itemToDecide(
      reviews,
      subject,
      input,
      ({ state, kind }) => kind !== "finding" && state !== "flagged",
    );
    const { server, tool, fingerprint } = item;
    if (item.state !== "notice") {
      agree("review approve", `Serve ${server}.${tool} like this?`, input, item);
    }
    const done = await reviews.decide("approve", { server, tool, fingerprint });
    tell(done, input.flags.get("json") === true);
  },
};

export const reviewReject: Command = {
  usage: "review reject SERVER.TOOL",
  meaning: "Go on with what was served before, and do not ask about this change again",
  flags: [FINGERPRINT_FLAG, JSON_FLAG],
  async run(input) {
    const subject = namedSubject("review reject", input);
    const reviews = await openReviews(input);
    const item = await itemToDecide(reviews, subject, input, ({ kind }) => kind !== "finding");
    const { server, tool, fingerprint } = item;
    const done = await reviews.decide("reject", { server, tool, fingerprint });
    tell(done, input.flags.get("json") === true);
  },
};

export const reviewRevert: Command = {
  usage: "review revert SERVER.TOOL",
  meaning: "Serve the version before again, and hold what the server lists",
  flags: [JSON_FLAG],
  async run(input) {
    const { server, tool } = namedSubject("review revert", input);
    const done = await (await openReviews(input)).decide("revert", { server, tool });
    tell(done, input.flags.get("json") === true);
  },
};

export function tell(done: string, asJson: boolean): void {
  if (asJson) printJson({ done });
  else print(`${inert(done)}.\n`);
}

import { noPositionals } from "./arguments.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { namedSubject, openReviews } from "./review_command.ts";
import { itemRow, itemText } from "./review_text.ts";
import { cutToWidth, painter, print, printJson, table } from "./terminal.ts";

export const reviewList: Command = {
  usage: "review list",
  meaning: "What waits for you: held changes, notices, and findings of the scanner",
  details: ["A gateway has to run. `review show SERVER.TOOL` has the whole of one."],
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("review list", input);
    const overview = await (await openReviews(input)).list();
    if (input.flags.get("json") === true) return printJson(overview);
    const { items, more } = overview;
    if (items.length === 0) return print("Nothing waits for you.\n");
    const paint = painter(input.env);
    const heading = ["TOOL", "STATE", "WHAT", "RULES"].map((word) => paint("gray", word));
    print(cutToWidth(table([heading, ...items.map((item) => itemRow(item, paint))])));
    if (more > 0) print(`and ${more} more\n`);
  },
};

export const reviewShow: Command = {
  usage: "review show SERVER.TOOL",
  meaning: "What has changed about a tool, and what was found in it",
  details: ["A server's instructions are `SERVER.(instructions)`. A gateway has to run."],
  flags: [JSON_FLAG],
  async run(input) {
    const { server, tool } = namedSubject("review show", input);
    const items = await (await openReviews(input)).show(server, tool);
    if (input.flags.get("json") === true) return printJson({ items });
    if (items.length === 0) return print(`Nothing about ${server}.${tool} waits for you.\n`);
    const paint = painter(input.env);
    print(items.map((item) => itemText(item, paint)).join("\n"));
  },
};

import { configError } from "../config/problem.ts";
import { GatewayError } from "../core/errors.ts";
import { noPositionals } from "./arguments.ts";
import { type Command, type CommandInput, JSON_FLAG } from "./command.ts";
import type { Consent, ConsentClient } from "./consent_client.ts";
import { consentText } from "./consent_text.ts";
import { agree, YES_FLAG } from "./review_command.ts";
import { resolveGateways } from "./servers_access.ts";
import { inert, isInteractive, print, printJson } from "./terminal.ts";

const consentList: Command = {
  usage: "consent list",
  meaning: "Programs that others want to have run here, with their whole command lines",
  details: ["A gateway has to run."],
  flags: [JSON_FLAG],
  async run(input) {
    noPositionals("consent list", input);
    const consents = await (await openConsents(input)).list();
    if (input.flags.get("json") === true) return printJson({ consents });
    if (consents.length === 0) return print("Nothing waits for your consent.\n");
    print(consents.map(consentText).join("\n"));
  },
};

const consentApprove: Command = {
  usage: "consent approve ID [--yes]",
  meaning: "Run a program that somebody else asked for, now and at every start",
  details: ["ID is what `consent list` shows. A gateway has to run."],
  flags: [YES_FLAG, JSON_FLAG],
  async run(input) {
    const id = oneId("consent approve", input);
    const consents = await openConsents(input);
    const consent = await resolveConsent(consents, id);
    const isAsked = input.flags.get("yes") !== true && isInteractive();
    if (isAsked) print(consentText(consent));
    agree("consent approve", `Run this program as ${consent.server}?`, input);
    const server = await consents.approve(consent.id);
    if (input.flags.get("json") === true) return printJson({ server });
    const { name, state, toolCount, reason } = server;
    print(
      state === "ready"
        ? `Started ${name}: ${toolCount} tools. It is not trusted.\n`
        : inert(`Started ${name} (${state.replace("_", " ")}): ${reason}\n`),
    );
  },
};

const consentRefuse: Command = {
  usage: "consent refuse ID",
  meaning: "Forget a program that somebody else asked for; nothing is run",
  flags: [JSON_FLAG],
  async run(input) {
    const refused = await (await openConsents(input)).refuse(oneId("consent refuse", input));
    if (input.flags.get("json") === true) return printJson({ refused });
    print(inert(`Refused ${refused}. Nothing was run.\n`));
  },
};

/** All of the family, by name. */
export const CONSENT_COMMANDS: Record<string, Command> = {
  "consent list": consentList,
  "consent approve": consentApprove,
  "consent refuse": consentRefuse,
};

async function openConsents(input: CommandInput): Promise<ConsentClient> {
  const [found] = await resolveGateways(input);
  return found!.client.consents();
}

function oneId(command: string, { positionals }: Pick<CommandInput, "positionals">): string {
  const [id, ...others] = positionals;
  if (id !== undefined && others.length === 0) return id;
  throw configError(
    `${command} takes the id of one request`,
    "See `deno task cli consent list` for their ids",
  );
}

async function resolveConsent(consents: ConsentClient, id: string): Promise<Consent> {
  const found = (await consents.list()).find((consent) => consent.id === id);
  if (found) return found;
  throw new GatewayError("NOT_FOUND", {
    message: `No request for consent has the id "${id.slice(0, 40)}"`,
    recoverySteps: ["See `deno task cli consent list`"],
  });
}

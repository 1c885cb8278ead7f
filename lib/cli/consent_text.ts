import { showHidden, shownLine, visibleJson } from "../core/text.ts";
import { GatewayError } from "../core/errors.ts";
import { CONSENT_OPERATIONS, type ShownConsent } from "../operations/consents.ts";
import type { OutputOf } from "../operations/operation.ts";
import { agree, type CommandExtras, YES } from "./operation_command.ts";
import { inert } from "./terminal.ts";

/** What the commands for consents show and ask beyond their operations. */
export const CONSENT_EXTRAS: Record<string, CommandExtras> = {
  "consent.list": {
    details: ["Requires a running gateway."],
    show: ({ consents }: OutputOf<typeof CONSENT_OPERATIONS.list>) =>
      consents.length === 0
        ? "No requests are waiting for your consent.\n"
        : consents.map(consentText).join("\n"),
  },
  "consent.approve": {
    details: ["`consent list` shows the IDs. Requires a running gateway."],
    flags: [YES],
    async prepare(given, command, target) {
      const { consents } = await target.run(CONSENT_OPERATIONS.list, {}) as {
        consents: ShownConsent[];
      };
      const consent = consents.find(({ id }) => id === given.id);
      if (!consent) throw noSuchRequest(String(given.id));
      const question = consent.url === undefined
        ? `Run this program as ${consent.server}?`
        : `Connect to ${consent.url} as ${consent.server}?`;
      agree("consent approve", inert(question), command, consentText(consent));
      return given;
    },
  },
};

function noSuchRequest(id: string): GatewayError {
  return new GatewayError("NOT_FOUND", {
    message: `No request for consent has the id "${id.slice(0, 40)}"`,
    next: [{ label: "See the requests", operation: "consent.list" }],
  });
}

/** All that decides what a program does, and who wants it run. */
export function consentText(consent: ShownConsent): string {
  const { id, wish, server, argv, url, variables, secrets, folder, who, origin, problem } = consent;
  const from = origin.from === undefined ? "" : ` (${origin.from})`;
  const words = variables.map(({ name, value }) => value === undefined ? name : `${name}=${value}`);
  const lines = [
    `${id}  ${wish} ${server}`,
    // As JSON: spaces, quotes and hidden characters show for what they are.
    url === undefined ? `  runs      ${visibleJson(argv)}` : `  connects  ${visibleJson(url)}`,
    ...(folder === undefined ? [] : [`  folder    ${visibleJson(folder)}`]),
    ...(words.length === 0
      ? []
      : [`  ${url === undefined ? "variables" : "headers  "} ${
        words.map((word) => visibleJson(word)).join(", ")
      }`]),
    ...(secrets.length === 0 ? [] : [`  secrets   ${secrets.join(", ")}`]),
    `  asked by  ${shownLine(`${who} by ${origin.via}${from}`)}, ${day(consent.askedAt)}`,
    `  expires   ${day(consent.expiresAt)}`,
    ...(problem === undefined ? [] : [`  ${shownLine(problem)}`]),
  ];
  return lines.map((line) => `${showHidden(line)}\n`).join("");
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

import { showHidden, shownLine, visibleJson } from "../core/hidden_text.ts";
import type { Consent } from "./consent_client.ts";

/** All that decides what a program does, and who wants it run. */
export function consentText(consent: Consent): string {
  const { id, wish, server, argv, variables, secrets, folder, who, origin, problem } = consent;
  const from = origin.from === undefined ? "" : ` (${origin.from})`;
  const words = variables.map(({ name, value }) => value === undefined ? name : `${name}=${value}`);
  const lines = [
    `${id}  ${wish} ${server}`,
    // As JSON: spaces, quotes and hidden characters show for what they are.
    `  runs      ${visibleJson(argv)}`,
    ...(folder === undefined ? [] : [`  folder    ${visibleJson(folder)}`]),
    ...(words.length === 0
      ? []
      : [`  variables ${words.map((word) => visibleJson(word)).join(", ")}`]),
    ...(secrets.length === 0 ? [] : [`  secrets   ${secrets.join(", ")}`]),
    `  asked by  ${shownLine(`${who} by ${origin.via}${from}`)}, ${day(consent.askedAt)}`,
    `  forgotten ${day(consent.expiresAt)}`,
    ...(problem === undefined ? [] : [`  ${shownLine(problem)}`]),
  ];
  return lines.map((line) => `${showHidden(line)}\n`).join("");
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

/** Says that a tool looks for attacks, in its own description of itself. */
const DETECTOR =
  /\b(detect|scan|classif|flag|guard|filter|saniti[sz]|moderat|screen|check|analy[sz]|block|find)\w{0,10}\b[^.\n]{0,80}\b(injections?|jailbreaks?|phishing|poison\w{0,4}|(malicious|hostile|suspicious|adversarial|unsafe) (prompts?|texts?|instructions?|inputs?|descriptions?))\b/i;
/** Pairs of quotes on one line, with no more between them than an example has. */
const QUOTED =
  /"[^"\n]{1,300}"|“[^”\n]{1,300}”|`[^`\n]{1,300}`|(?<=[\s(,])'[^'\n]{1,300}'(?=[\s),.])/g;

/** The description without what it quotes, where the tool has a reason to quote attacks. */
export function unquoted(description: unknown): string | undefined {
  if (typeof description !== "string" || !DETECTOR.test(description.slice(0, 300))) {
    return undefined;
  }
  const rest = description.replace(QUOTED, "");
  return rest === description ? undefined : rest;
}

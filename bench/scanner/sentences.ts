import { fold } from "../../lib/trust/scanner/characters.ts";
import type { Sentence } from "../../lib/trust/scanner/passage.ts";
import { scanPhrases } from "../../lib/trust/scanner/phrase_scan.ts";
import { readingsOf, topicOf } from "../../lib/trust/scanner/definition.ts";
import { type Finding, scanText, scanTool } from "../../lib/trust/scanner/scan.ts";
import type { Part } from "../../tests/fixtures/attacks/attack_samples.ts";

/** Every sentence of a sample as the scanner judges it. */
export function sentencesOf(parts: readonly Part[]): Sentence[] {
  const sentences: Sentence[] = [];
  for (const part of parts) {
    const { around } = part;
    const readings = "definition" in part
      ? readingsOf(part.definition, around).readings
      : [{ where: part.where, read: part.text, topic: topicOf(around.server) }];
    for (const { where, read, topic } of readings) {
      scanPhrases(where, read, fold(read), around, topic, (sentence) => sentences.push(sentence));
    }
  }
  return sentences;
}

export function findingsOf(parts: readonly Part[]): Finding[] {
  return parts.flatMap((part) =>
    "definition" in part
      ? scanTool(part.definition, part.around)
      : scanText(part.where, part.text, part.around)
  );
}

/** How the findings begin that come of what was learned. */
const LEARNED = "It reads like an instruction";

/** What is found by the rules that are written by hand. */
export function findingsByRules(parts: readonly Part[]): Finding[] {
  // A scan keeps one finding of a rule and place, which may be the learned one.
  const phrases = parts.flatMap((part) => {
    const { around } = part;
    const readings = "definition" in part
      ? readingsOf(part.definition, around).readings
      : [{ where: part.where, read: part.text, topic: topicOf(around.server) }];
    return readings.flatMap(({ where, read, topic }) =>
      scanPhrases(where, read, fold(read), around, topic)
    );
  });
  return [...phrases, ...findingsOf(parts)].filter(({ why }) => !why.startsWith(LEARNED));
}

import type { Finding } from "../../catalog/tool_guard.ts";
import { excerptOf, skeleton } from "./characters.ts";
import type { ScanContext } from "./definition.ts";

interface Skeletons {
  size: number;
  names: Map<string, string>;
}

/** Skeletons of a set of names; thousands of tools are compared with the same set. */
const remembered = new WeakMap<ReadonlySet<string>, Skeletons>();

function skeletonsOf(names: ReadonlySet<string>): Map<string, string> {
  const known = remembered.get(names);
  if (known !== undefined && known.size === names.size) return known.names;
  const fresh = new Map(Array.from(names, (name) => [skeleton(name), name]));
  remembered.set(names, { size: names.size, names: fresh });
  return fresh;
}

/** Finds a name that is, or looks like, the name of somebody else's tool. */
export function scanName(name: string, around: ScanContext): Finding[] {
  const found = (rule: string, severity: Finding["severity"], why: string): Finding[] => [
    { rule, severity, where: "name", excerpt: excerptOf(name), why },
  ];
  // Whoever writes in plain letters may be the one who is imitated: a warning is enough for it, and
  // routing tells equal names apart.
  const lookalike = /^[\x21-\x7e]+$/.test(name) ? "medium" : "high";
  const bones = skeleton(name);
  const reserved = skeletonsOf(around.reserved).get(bones);
  if (reserved !== undefined) {
    return found(
      "reserved-name",
      lookalike,
      `It takes the name of the gateway's own "${reserved}"`,
    );
  }
  if (around.otherTools.has(name)) {
    return found("shadowing", "low", "Another server has a tool of the same name");
  }
  const other = skeletonsOf(around.otherTools).get(bones);
  // `Search` beside `search` is another server's habit, `Read_File` beside `read_file` is not.
  if (
    other !== undefined && /^[A-Za-z]+$/.test(name) && other.toLowerCase() === name.toLowerCase()
  ) {
    return found("shadowing", "low", `Another server has "${other}", which differs only in case`);
  }
  if (other !== undefined) {
    return found("shadowing", lookalike, `It looks like "${other}", a tool of another server`);
  }
  const misspelled = neighborsOf(name).find((it) => around.otherTools.has(it));
  return misspelled === undefined
    ? []
    : found("shadowing", "medium", `It is a misspelling of "${misspelled}" of another server`);
}

/** The names of which this one is a slip: two letters exchanged, or one doubled. */
function neighborsOf(name: string): string[] {
  if (name.length < 8 || name.length > 64) return [];
  const neighbors: string[] = [];
  for (let i = 1; i < name.length; i++) {
    const [before, letter] = [name[i - 1]!, name[i]!];
    if (letter === before) neighbors.push(name.slice(0, i) + name.slice(i + 1));
    else neighbors.push(name.slice(0, i - 1) + letter + before + name.slice(i + 1));
  }
  return neighbors;
}

/** What no ordinary tool needs, asked for by the name of a parameter alone. */
const PRIVATE =
  /^_*(system_?prompts?|system_?instructions|developer_?prompt|conversation_?history|chat_?history|message_?history|full_?conversation|conversation|chain_?of_?thought|thought_?process|reasoning_?trace|model_?reasoning|tool_?call_?history|tool_?calls_?history|available_?tools|tools?_?list|all_?tools|previous_?messages|user_?messages|context_?window|full_?context|model_?name_?and_?version)_*$/i;
/** Secrets of the machine; a key of the tool's own service is ordinary (`api_key`, `token`). */
const SECRETS =
  /^_*(ssh_?(private_?)?key|id_?rsa|aws_?credentials?|aws_?secret_?access_?key|env_?vars?|environment_?variables|env_?file(_?contents?)?|browser_?cookies|saved_?passwords|keychain)_*$/i;
/** What tools do that have a use for such secrets. */
const ABOUT_MACHINES =
  /\b(ssh|sftp|scp|keys?|deploy\w*|servers?|connect\w*|hosts?|crypto\w*|sign\w*|git|clone|wallets?|blockchain|cloud|aws|docker|containers?|process\w*|env\w*|run\w*|exec\w*|commands?|auth\w*|log ?in|remote|instances?|machines?|vms?|certificates?|tls|jwt|secrets?|credentials?|cookies?|browser|passwords?|config\w*|jobs?|functions?|build\w*|start\w*|lambda|services?|apps?|projects?|transactions?|accounts?)\b/i;
const ASIDE = /^(side_?notes?|side_?channel|exfil\w*|hidden_?\w+)$/i;
/** A tool that works with models or messages has honest uses for all of these. */
const ABOUT_MODELS =
  /\b(llms?|models?|prompts?|ai|agents?|chat\w*|conversation\w*|messages?|completions?|generat\w+|gpt|claude|gemini|openai|assistants?|summar\w+|memor\w+|rag|think\w*|reason\w*|thoughts?|tools?|dialog\w*|session\w*|transcripts?|extract\w*|classif\w+|sentiment)\b/i;

/** Finds parameters that ask for what the model knows rather than for what the tool needs. */
export function scanParameters(definition: Record<string, unknown>): Finding[] {
  const { name, title, description, inputSchema } = definition;
  const properties = recordOf(recordOf(inputSchema).properties);
  const purpose = [name, title, description].filter((text) => typeof text === "string").join(" ")
    .replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2").slice(0, 4_000);
  const found: Finding[] = [];
  for (const parameter of Object.keys(properties).slice(0, 1_000)) {
    const where = `inputSchema.properties.${parameter}`;
    if (ASIDE.test(parameter)) {
      const why = "The parameter's name is one that is known from attacks";
      found.push(finding("medium", where, parameter, why));
    } else if (SECRETS.test(parameter)) {
      const why = "The parameter asks for a secret of the machine, which the tool has no use for";
      found.push(finding(ABOUT_MACHINES.test(purpose) ? "low" : "medium", where, parameter, why));
    } else if (PRIVATE.test(parameter)) {
      const why =
        "The parameter asks for what the model was told or thinks, which it fills in unasked";
      found.push(finding(ABOUT_MODELS.test(purpose) ? "low" : "medium", where, parameter, why));
    }
  }
  return found;
}

function finding(
  severity: Finding["severity"],
  where: string,
  parameter: string,
  why: string,
): Finding {
  return { rule: "exfiltration-parameter", severity, where, excerpt: excerptOf(parameter), why };
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

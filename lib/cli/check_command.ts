import { resolve } from "@std/path";
import { configError } from "../config/files.ts";
import { CHECK_OPERATIONS } from "../operations/checks.ts";
import type { OutputOf } from "../operations/operation.ts";
import {
  type CheckedTool,
  type CheckReport,
  checkText,
  wrongText,
} from "../operations/optimization/check_report.ts";
import { jobText } from "./job_commands.ts";
import type { CommandExtras } from "./operation_command.ts";
import { inert } from "./terminal.ts";

type CheckOutput = OutputOf<typeof CHECK_OPERATIONS.check>;

/** Another code than that of a description below its threshold. */
const COULD_NOT_RUN = 2;

export const CHECK_EXTRAS: Record<string, CommandExtras> = {
  "optimization.check": {
    details: [
      "TOOL is any of a tool's names, or a server's name for all of its tools. For scripts and CI:",
      "exits with 0 if every tool reached the thresholds, 1 if one is below, 2 if one could not be",
      "tested or the check could not run. Tools without prompts are skipped. Nothing is promoted.",
    ],
    flags: [{
      flag: "junit",
      placeholder: "FILE",
      meaning: "Write the results to this file as JUnit XML",
    }],
    show: ({ job, check }: CheckOutput) => check ? `${inert(checkText(check))}\n` : jobText(job),
    exitCode: ({ check }: CheckOutput) => check?.exitCode ?? COULD_NOT_RUN,
    failureCode: COULD_NOT_RUN,
    async finish({ check }: CheckOutput, { flags }) {
      const path = flags.get("junit");
      if (typeof path !== "string" || !check) return;
      await Deno.writeTextFile(resolve(path), junitXml(check)).catch((error) => {
        throw configError(`Cannot write ${path}`, "Choose another file", error);
      });
    },
  },
};

/** A suite per server, a case per tool and threshold. */
export function junitXml({ tools }: CheckReport): string {
  const suites = [...Map.groupBy(tools, ({ server }) => server)].map(([server, own]) => {
    const cases = own.flatMap(casesOf);
    const count = (element: string) => cases.filter((one) => one.includes(`<${element} `)).length;
    const seconds = own.reduce((sum, tool) => sum + tool.seconds, 0).toFixed(3);
    return `  <testsuite name=${quoted(server)} tests="${cases.length}" ` +
      `failures="${count("failure")}" errors="${count("error")}" skipped="${count("skipped")}" ` +
      `time="${seconds}">\n${cases.join("")}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("")}</testsuites>\n`;
}

function casesOf({ server, tool, model, status, rules, ...more }: CheckedTool): string[] {
  const { problem, wrong, seconds } = more;
  const suffix = model === undefined ? "" : ` (${model})`;
  const caseOf = (name: string, time: number, inner: string) =>
    `    <testcase classname=${quoted(`${server}.${tool}`)} name=${quoted(name + suffix)} ` +
    `time="${time.toFixed(3)}"${inner === "" ? "/>" : `>\n      ${inner}\n    </testcase>`}\n`;
  if (status === "error" || status === "skipped") {
    const element = status === "error" ? "error" : "skipped";
    return [caseOf("check", seconds, `<${element} message=${quoted(problem ?? "")}/>`)];
  }
  return rules.map(({ rule, passed, words }, index) => {
    const about = rule === "negative"
      ? wrong.filter(({ category }) => category === "negative")
      : wrong;
    const detail = escaped(about.map(wrongText).join("\n"));
    const failure = `<failure message=${quoted(words)}>${detail}</failure>`;
    // The time is spent once, on all prompts.
    return caseOf(rule, index === 0 ? seconds : 0, passed ? "" : failure);
  });
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll("\n", "&#10;")}"`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** XML 1.0 has no place for these, not even escaped. */
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

function escaped(text: string): string {
  return text.replaceAll(FORBIDDEN, "\ufffd").replaceAll(/[&<>"]/g, (char) => ENTITIES[char]!);
}

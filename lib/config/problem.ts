import { GatewayError } from "../core/errors.ts";

/** One thing to correct in a configuration file, and where. */
export interface Problem {
  severity: "warning" | "error";
  file: string;
  /** Counted from 1. */
  line: number;
  /** Counted from 1, in UTF-16 units as editors do. */
  column: number;
  message: string;
  fix: string;
  /** The server it concerns, by the name the gateway gives it. */
  server?: string;
}

/** `file:line:column: what`, the form editors and terminals turn into a link. */
export function located(place: Pick<Problem, "file" | "line" | "column">, message: string): string {
  return `${place.file}:${place.line}:${place.column}: ${message}`;
}

/** The whole problem in one line. */
export function formatProblem(problem: Problem): string {
  return withFix(located(problem, problem.message), problem.fix);
}

/** An error that makes the configuration unusable; the message alone tells what and how to mend it. */
export function configError(message: string, fix: string, cause?: unknown): GatewayError {
  return new GatewayError("CONFIG_INVALID", {
    message: withFix(message, fix),
    recoveryAction: fix,
    ...(cause === undefined ? {} : { cause }),
  });
}

// One sentence, as a terminal shows it; a question stays one of its own.
function withFix(message: string, fix: string): string {
  if (fix.endsWith("?")) return `${message}. ${fix}`;
  return `${message}; ${fix.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())}`;
}

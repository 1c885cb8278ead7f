/** One thing that was looked at. */
export interface Finding {
  /** What it belongs to: "config", "port", "server git". */
  about: string;
  level: "ok" | "warning" | "problem";
  /** One sentence. */
  message: string;
  /** What to do about it. */
  fix?: string;
  /** The server that `doctor --fix` can repair. */
  repairable?: string;
}

export function ok(about: string, message: string, fix?: string): Finding {
  return { about, level: "ok", message, ...(fix === undefined ? {} : { fix }) };
}

export function warning(about: string, message: string, fix: string): Finding {
  return { about, level: "warning", message, fix };
}

export function problem(about: string, message: string, fix: string): Finding {
  return { about, level: "problem", message, fix };
}

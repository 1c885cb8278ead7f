import { type TextSegment, wordDiff } from "../catalog/word_diff.ts";
import { auditSide } from "../telemetry/audit_reader.ts";

/** One thing that differs between before and after. */
export interface AuditDifference {
  /** Where in the value it is: "env.TOKEN"; empty for the whole. */
  path: string;
  before?: string;
  after?: string;
  /** By word, where both sides are texts of some length. */
  words?: TextSegment[];
}

export interface AuditDifferences {
  rows: AuditDifference[];
  /** Those that are not shown. */
  more: number;
}

const MOST = 50;
const LONG = 40;

/** What a change changed, one line for each value; nothing of what stayed as it was. */
export function auditDifferences(before?: string, after?: string): AuditDifferences {
  const [was, is] = [leavesOf(before), leavesOf(after)];
  const rows: AuditDifference[] = [];
  for (const path of new Set([...was.keys(), ...is.keys()])) {
    const [old = [], fresh = []] = [was.get(path), is.get(path)];
    const [gone, come] = [without(old, fresh), without(fresh, old)];
    if (gone.length === 1 && come.length === 1) rows.push(changed(path, gone[0]!, come[0]!));
    else {
      rows.push(...gone.map((before) => ({ path, before })));
      rows.push(...come.map((after) => ({ path, after })));
    }
  }
  return { rows: rows.slice(0, MOST), more: Math.max(0, rows.length - MOST) };
}

function changed(path: string, before: string, after: string): AuditDifference {
  const isLong = before.length > LONG && after.length > LONG;
  return { path, before, after, ...(isLong ? { words: wordDiff(before, after) } : {}) };
}

/** Every single value by its place; the items of a list share one, so that an insertion is just that. */
function leavesOf(text: string | undefined): Map<string, string[]> {
  const leaves = new Map<string, string[]>();
  const walk = (value: unknown, path: string) => {
    if (Array.isArray(value)) return value.forEach((item) => walk(item, path));
    if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        walk(item, path === "" ? key : `${path}.${key}`);
      }
      return;
    }
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    leaves.set(path, [...leaves.get(path) ?? [], shown]);
  };
  if (text !== undefined) walk(auditSide(text), "");
  return leaves;
}

function without(values: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return values.filter((value) => {
    const at = left.indexOf(value);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

import type { CanonicalTool } from "../storage/canonical_tools_repository.ts";
import type { ChangeNotice, ServerReviews } from "../storage/reviews_repository.ts";
import { type CatalogTool, isBroken, readTool } from "./catalog_tool.ts";
import { findRenames } from "./renames.ts";
import type { ServerRules } from "./tool_guard.ts";

/** What somebody should see after these changes of a server's tools; undefined: nothing more. */
export function noticesAfter(
  { server, notices }: ServerReviews,
  changed: readonly CanonicalTool[],
  rules: ServerRules | undefined,
): ChangeNotice[] | undefined {
  const went = changed.filter(({ goneSince }) => goneSince !== undefined);
  const came = changed.filter(({ goneSince }) => goneSince === undefined);
  const read = (tools: readonly CanonicalTool[]) =>
    tools.flatMap(({ current }): CatalogTool[] => {
      const tool = readTool(server, current.text, 0);
      return isBroken(tool) ? [] : [tool];
    });
  const renames = findRenames(read(came.filter(({ version }) => version === 1)), read(went));
  const before = new Map(went.map((tool) => [tool.name, tool.current]));
  const known = new Map(notices.map((notice) => [notice.tool, notice]));
  let isChanged = false;
  for (const tool of came) {
    const { name, version, current: { text, fingerprint, seenAt }, earlier } = tool;
    // What is held anyway waits for a decision by itself.
    if (rules?.pins.has(name) || rules?.hidden.has(name)) continue;
    const from = renames.get(name);
    const old = known.get(name);
    const last = old ? old.before : version > 1 ? earlier[0] : from && before.get(from);
    if (old?.fingerprint === fingerprint) continue;
    isChanged = true;
    if (last && last.fingerprint === fingerprint) known.delete(name);
    else {
      known.set(name, {
        tool: name,
        ...(from === undefined ? {} : { from }),
        text,
        fingerprint,
        ...(last ? { before: { text: last.text, fingerprint: last.fingerprint } } : {}),
        at: seenAt,
      });
    }
  }
  return isChanged ? [...known.values()] : undefined;
}

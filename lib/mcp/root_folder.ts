import { fromFileUrl } from "@std/path";
import { asAbortSignal } from "../core/async.ts";
import type { Client, McpRequest } from "../core/client.ts";
import { isObject, memberText, parseJson } from "../core/rpc.ts";
import { putQuestion } from "./input_rounds.ts";

const LIMIT_MS = 10_000;

/** The folder of a client's first root; undefined if it has none on this machine. */
export async function rootFolder(
  client: Client,
  request: McpRequest,
  limitMs = LIMIT_MS,
): Promise<string | undefined> {
  if (client.profile.capabilities.roots === undefined) return undefined;
  const signal = AbortSignal.any([asAbortSignal(request.signal), AbortSignal.timeout(limitMs)]);
  const question = { key: "roots", method: "roots/list", params: undefined };
  const text = await putQuestion(question, { request, client }, signal).catch(() => {
    request.signal.throwIfAborted();
    return "{}";
  });
  const result = parseJson(memberText(text, "result") ?? "null");
  const roots: unknown[] = isObject(result) && Array.isArray(result.roots) ? result.roots : [];
  for (const root of roots) {
    const folder = isObject(root) ? folderOf(root.uri) : undefined;
    if (folder !== undefined && await isFolder(folder)) return folder;
  }
}

function folderOf(uri: unknown): string | undefined {
  const url = URL.parse(String(uri));
  if (url?.protocol !== "file:" || url.host !== "") return undefined;
  return fromFileUrl(url);
}

async function isFolder(path: string): Promise<boolean> {
  return await Deno.stat(path).then(({ isDirectory }) => isDirectory, () => false);
}

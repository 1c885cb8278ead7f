/** A path of this console to go back to; the dashboard where it is none, or of another site. */
export function localPath(path: string | null): string {
  if (path === null || !/^\/(?![/\\])/.test(path)) return "/";
  const url = URL.parse(path, "http://console.invalid");
  // Dots may have been resolved to another host's beginning.
  if (url?.host !== "console.invalid" || url.pathname.startsWith("//")) return "/";
  return url.pathname + url.search + url.hash;
}

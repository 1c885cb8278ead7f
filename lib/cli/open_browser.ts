/** Programs that open an address, each with what comes before it. Never a shell: it would read on. */
const OPENERS: Record<string, [command: string, ...args: string[]]> = {
  linux: ["xdg-open"],
  darwin: ["open"],
  windows: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** How to open an address on a system, or undefined where there is no way or it is none for a browser. */
export function openerFor(
  os: string,
  address: string,
): { command: string; args: string[] } | undefined {
  const url = URL.parse(address);
  const opener = OPENERS[os];
  if (url === null || !/^https?:$/.test(url.protocol) || opener === undefined) return undefined;
  const [command, ...args] = opener;
  return { command, args: [...args, url.href] };
}

/** Shows an address in the user's browser; false where that cannot be done. */
export function openBrowser(address: string, os: string = Deno.build.os): boolean {
  const opener = openerFor(os, address);
  if (opener === undefined) return false;
  try {
    const child = new Deno.Command(opener.command, {
      args: opener.args,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    // The browser may outlive this command.
    child.unref();
    return true;
  } catch {
    return false;
  }
}

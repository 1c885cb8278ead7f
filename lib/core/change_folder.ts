/** The texts of files to write into a folder, each in one step; or the folder is removed. */
type FolderChange = Record<string, string> | "removed";

/**
 * Changes a folder that the gateway itself may not be permitted to write, such as npm's cache at a place
 * that a server's entry names. Then another process does it, which may write only there (anywhere if
 * the path has a comma, which Deno's flags cannot name).
 */
export async function changeFolder(folder: string, change: FolderChange): Promise<void> {
  const { state } = await Deno.permissions.query({ name: "write", path: folder });
  if (state === "granted") return await apply(folder, change);
  // A comma would separate folders.
  const only = folder.includes(",") ? "" : `=${folder}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-q", "--no-prompt", "--no-config", "--no-lock"],
      ...[`--allow-read${only}`, `--allow-write${only}`, "--ext=js", "-"],
    ],
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const program = `await (${apply})(${JSON.stringify(folder)}, ${JSON.stringify(change)});`;
  // One that has ended says why.
  await writer.write(new TextEncoder().encode(program)).catch(() => {});
  await writer.close().catch(() => {});
  const { success, stderr } = await child.output();
  if (!success) throw new Error(`Cannot change ${folder}: ${firstLine(stderr)}`);
}

/** Also runs as text in the other process, so it uses nothing of this file. */
async function apply(folder: string, change: FolderChange): Promise<void> {
  if (change === "removed") {
    return await Deno.remove(folder, { recursive: true }).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(change)) {
    const next = `${folder}/${name}.${Deno.pid}`;
    await Deno.writeTextFile(next, text);
    await Deno.rename(next, `${folder}/${name}`);
  }
}

function firstLine(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).trim().split("\n")[0] ?? "";
}

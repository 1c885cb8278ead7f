import assert from "node:assert/strict";

const MOUNT = 'mount -t tmpfs -o size=3m none "$1"';

/** Whether this machine lets us mount a small file system that nobody else sees. */
async function canMount(): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  try {
    return (await inNamespace(MOUNT, folder)).success;
  } catch {
    return false;
  } finally {
    await Deno.remove(folder);
  }
}

function inNamespace(script: string, ...args: string[]): Promise<Deno.CommandOutput> {
  return new Deno.Command("unshare", {
    args: ["--map-root-user", "--mount", "sh", "-c", script, "sh", ...args],
    stdin: "null",
  }).output();
}

const isPossible = Deno.build.os === "linux" && await canMount();

Deno.test({
  name: isPossible
    ? "Store survives a full disk"
    : "Store survives a full disk (skipped: no mount namespaces here)",
  ignore: !isPossible,
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const run = `${MOUNT} && exec "$2" run --quiet --no-lock --allow-all "$3" "$1"`;
      const program = import.meta.resolve("./testing/fill_disk.ts");
      const output = await inNamespace(run, folder, Deno.execPath(), program);
      assert(output.success, new TextDecoder().decode(output.stderr));
    } finally {
      await Deno.remove(folder);
    }
  },
});

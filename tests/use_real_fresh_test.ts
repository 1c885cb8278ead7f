import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { dirname, join, toFileUrl } from "@std/path";
import { commandIn, sh, withCopy } from "./checkout_copy.ts";
import { startGateway } from "./gateway.ts";
import { type JsrRegistry, openJsrRegistry, packageIn } from "./jsr_registry.ts";
import { ROOT } from "./terminal.ts";

/** What a build writes. */
const BUILT = ["_fresh", "generated"];
const LOCKS = ["deno.lock", "tests/deno.lock"];

/** In a checkout that has made the switch there is nothing to make it with. */
const ignore = !await Deno.stat(join(ROOT, "lib/compat/fresh")).then(() => true, () => false);

Deno.test(
  "use-real-fresh changes nothing where the lock cannot be written",
  { ignore },
  () =>
    withSources(async (root) => {
      await using registry = openJsrRegistry([]);
      const before = await hashes(root);
      const { code, text } = await run(root, registry, "use-real-fresh");
      assert.equal(code, 1, text);
      assert.match(text, /Cannot write the lock file: .*@(fresh\/core|std\/path)/);
      assert.match(text, /^Nothing was changed\..*jsr\.io/m);
      assert.deepEqual(await hashes(root), before);
    }),
);

Deno.test(
  "use-real-fresh makes the whole switch, and --back restores every byte",
  { ignore },
  () =>
    withSources(async (root, folder) => {
      await using registry = await registryOfReplacements(folder);
      const before = await hashes(root);
      const use = async (...flags: string[]) => {
        const { code, text } = await run(root, registry, ...flags, "use-real-fresh");
        assert.equal(code, 0, text);
        return text;
      };

      assert.match(await use(), /Next: deno task build/);
      const manifest = await Deno.readTextFile(join(ROOT, "deno.json"));
      const lines = manifest.split("\n").filter((line) => !/^ {2}"links": /.test(line));
      assert.equal(await Deno.readTextFile(join(root, "deno.json")), lines.join("\n"));
      for (const lock of LOCKS) {
        const { jsr, workspace } = JSON.parse(await Deno.readTextFile(join(root, lock)));
        assert.deepEqual(Object.keys(jsr), ["@fresh/core@2.3.3", "@std/path@1.1.0"], lock);
        assert.equal(workspace.links, undefined, lock);
      }
      const switched = await hashes(root);
      assert.deepEqual([...switched.keys()].filter((path) => path.startsWith("lib/compat/")), [
        "lib/compat/README.md",
      ]);
      assert.match(await use(), /already/);
      assert.deepEqual(await hashes(root), switched);

      // As if it had been killed before the last folder, then after the first file.
      const kept = join(root, ".cache/stand_in");
      const folders = ["lib/compat/std_path", "lib/compat/fresh"];
      await Deno.rename(join(kept, folders[0]!), join(root, folders[0]!));
      assert.match(await use(), /Next: deno task build/);
      assert.deepEqual(await hashes(root), switched);
      for (const path of folders) await Deno.rename(join(kept, path), join(root, path));
      for (const path of LOCKS) await Deno.copyFile(join(kept, path), join(root, path));
      // Deno runs no task then, unless it is told to.
      assert.match(await use("--frozen=false"), /Next: deno task build/);
      assert.deepEqual(await hashes(root), switched);

      await sh("rm", ["-r", join(root, "_fresh")]);
      const built = await run(root, registry, "build");
      assert.equal(built.code, 0, built.text);
      await using gateway = await startGateway([], {
        command: commandIn(root),
        env: { JSR_URL: registry.url },
      });
      assert.match(await (await fetch(gateway.url)).text(), /weather/);
      await gateway.stop();

      await Deno.writeTextFile(join(root, "deno.json"), `${lines.join("\n")}\n`);
      const refused = await run(root, registry, "use-real-fresh", "--back");
      assert.equal(refused.code, 1, refused.text);
      assert.match(refused.text, /deno\.json has changed since the switch/);
      await Deno.writeTextFile(join(root, "deno.json"), lines.join("\n"));
      const back = await run(root, registry, "use-real-fresh", "--back");
      assert.equal(back.code, 0, back.text);
      assert.deepEqual(await hashes(root), before);

      // As after a switch, when Git brings the replacements back, and somebody edits one.
      await Deno.mkdir(join(kept, "lib"), { recursive: true });
      await sh("cp", ["-r", join(root, "lib/compat"), join(kept, "lib")]);
      await Deno.copyFile(join(root, "deno.json"), join(kept, "deno.json"));
      const edited = join(root, "lib/compat/fresh/mod.ts");
      await Deno.writeTextFile(edited, "// edited\n", { append: true });
      assert.equal((await run(root, registry, "use-real-fresh", "--back")).code, 0);
      assert.match(await Deno.readTextFile(edited), /edited/);
      await assert.rejects(Deno.stat(kept));
    }),
);

/** A copy of the checkout with the tests' lock file, which the switch writes too. */
function withSources(run: (root: string, folder: string) => Promise<void>): Promise<void> {
  return withCopy(async ({ root, folder }) => {
    await sh("cp", ["--parents", "-t", root, "--", "tests/deno.lock"]);
    await run(root, folder);
  });
}

async function run(root: string, { url }: JsrRegistry, ...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "-q", ...args],
    cwd: root,
    env: { JSR_URL: url, NO_COLOR: "1" },
  }).output();
  const text = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  return { code, text };
}

/** Serves the replacements as the packages that they stand in for: a build can be made with those. */
async function registryOfReplacements(folder: string): Promise<JsrRegistry> {
  const { imports } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const [fresh, path] = await Promise.all(
    ["fresh", "std_path"].map((name) => packageIn(join(ROOT, "lib/compat", name), imports)),
  );
  // It bundles its client, which has to be in files.
  const client = join(folder, "client");
  for (const [file, text] of fresh!.files) {
    await Deno.mkdir(join(client, dirname(file)), { recursive: true });
    await Deno.writeTextFile(join(client, file), text);
  }
  const bundler = fresh!.files.get("/bundle.ts")!;
  const at = JSON.stringify(toFileUrl(`${client}/`).href);
  fresh!.files.set("/bundle.ts", bundler.replace("import.meta.url", at));
  return openJsrRegistry([fresh!, path!]);
}

/** Every file but those of a build, with a hash of what it holds. */
async function hashes(root: string, below = ""): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { name, isDirectory } of Deno.readDirSync(join(root, below))) {
    const path = below === "" ? name : `${below}/${name}`;
    if (BUILT.includes(path)) continue;
    if (isDirectory) {
      for (const [inner, hash] of await hashes(root, path)) found.set(inner, hash);
    } else {
      const bytes = await Deno.readFile(join(root, path));
      found.set(path, createHash("sha256").update(bytes).digest("hex"));
    }
  }
  return new Map([...found].sort());
}

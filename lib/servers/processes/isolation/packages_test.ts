import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ownerOf } from "../../transports/testing/transport_harness.ts";
import { findInstaller } from "../installer.ts";
import { Installs } from "../installs.ts";
import { installFirst } from "./packages.ts";

const NAME = "planting-server";

/** A registry with one package, whose install script plants a file. */
async function serveRegistry(folder: string) {
  const source = join(folder, "source");
  await Deno.mkdir(source);
  const manifest = {
    name: NAME,
    version: "1.0.0",
    bin: { other: "server.js", [NAME]: "server.js" },
    scripts: { postinstall: `touch "${join(folder, "planted")}"` },
  };
  await Deno.writeTextFile(join(source, "package.json"), JSON.stringify(manifest));
  await Deno.writeTextFile(join(source, "server.js"), "#!/usr/bin/env node\n");
  const pack = new Deno.Command("npm", { args: ["pack", "--silent"], cwd: source });
  assert.ok((await pack.output()).success);
  const tarball = await Deno.readFile(join(source, `${NAME}-1.0.0.tgz`));
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    if (request.url.endsWith(".tgz")) return new Response(tarball);
    if (!request.url.endsWith(`/${NAME}`)) return new Response("{}", { status: 404 });
    const dist = { tarball: new URL("/package.tgz", request.url).href, integrity };
    const versions = { "1.0.0": { ...manifest, hasInstallScript: true, dist } };
    return Response.json({ name: NAME, "dist-tags": { latest: "1.0.0" }, versions });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const hasNpm = await new Deno.Command("npm", { args: ["--version"] }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: "installFirst() installs a package for npx and runs nothing of it",
  ignore: Deno.build.os === "windows" || (!hasNpm && !Deno.env.get("CI")),
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
    try {
      await using registry = await serveRegistry(folder);
      await using installs = new Installs();
      const env = {
        PATH: Deno.env.get("PATH") ?? "",
        HOME: folder,
        npm_config_registry: registry.url,
        npm_config_audit: "false",
      };
      const reasons: (string | undefined)[] = [];
      const install = (...words: string[]) => {
        const [command = "", ...args] = words;
        return installFirst(findInstaller(words)!, { command, args, env }, {
          owner: ownerOf("lease"),
          installs,
          events: {
            onMessage() {},
            onClose() {},
            onLog() {},
            onInstall: (reason) => void reasons.push(reason),
          },
          signal: undefined,
        });
      };
      const program = await install("npx", "-y", NAME, "argument");
      assert.ok(program.command.endsWith(`/node_modules/.bin/${NAME}`), program.command);
      assert.ok((await Deno.stat(program.command)).isFile);
      assert.deepEqual(program.args, ["argument"]);
      assert.deepEqual(reasons, [`npx is installing ${NAME}`, undefined]);
      await assert.rejects(Deno.stat(join(folder, "planted")), Deno.errors.NotFound);
      // A second start finds it there; another program of the package is in the same folder.
      const other = await install("npx", `--package=${NAME}`, "--", "other", "a");
      assert.equal(other.command, program.command.replace(/[^/]+$/, "other"));
      assert.equal(reasons.length, 2);
      await assert.rejects(install("npx", "-y", "missing-server"), /ended with code 1: .*404/s);
      for (const option of ["-c", "--script-shell"]) {
        await assert.rejects(install("npx", option, "true", "x"), /--script-shell cannot/);
      }
      await assert.rejects(install("bunx", NAME), /bunx cannot be isolated: use npx, uvx/);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

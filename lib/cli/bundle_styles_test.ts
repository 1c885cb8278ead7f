import assert from "node:assert/strict";
import { join } from "@std/path";
import { bundleStyles } from "./bundle.ts";

Deno.test("bundleStyles() joins what console.css imports, in order, and again after a change", async () => {
  const root = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    const write = (name: string, text: string) =>
      Deno.writeTextFile(join(root, "styles", name), text);
    const bundled = async () => {
      await bundleStyles(root);
      return (await Deno.readTextFile(join(root, "generated", "console.css"))).trim();
    };
    await Deno.mkdir(join(root, "styles"));
    await write("console.css", '@import "./one.css";\n@import "./two.css";\n');
    await write("one.css", "/* Why. */\n.one {\n  color: red;\n}\n");
    await write("two.css", ".two {\n  color: light-dark(#fff000, #000fff);\n}\n");
    assert.equal(await bundled(), ".one{color:red}.two{color:light-dark(#fff000,#000fff)}");
    await write("one.css", ".one { color: tan }");
    assert.match(await bundled(), /^\.one\{color:tan\}/);
    await Deno.remove(join(root, "styles", "two.css"));
    await assert.rejects(bundleStyles(root), /^Error: Cannot bundle the styles:\n.*two\.css/);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

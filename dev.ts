import { Builder } from "fresh/dev";
import { stampBuild } from "./lib/cli/build_stamp.ts";
import { develop } from "./lib/cli/develop.ts";

const builder = new Builder({ target: "es2022", serverEntry: "./app.ts" });

if (Deno.args[0] === "build") {
  const { bundleProgram } = await import("./lib/cli/bundle_program.ts");
  await builder.build();
  await bundleProgram();
  await stampBuild();
} else {
  const { host } = await import("./host.ts");
  await develop(host, (options) => builder.listen(() => import("./app.ts"), options));
}

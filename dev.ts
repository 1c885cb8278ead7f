import { Builder } from "fresh/dev";
import { fromFileUrl } from "@std/path";
import { stampBuild } from "./lib/cli/build_stamp.ts";
import { bundleStyles, STATIC_FOLDERS } from "./lib/cli/bundle.ts";
import { develop } from "./lib/cli/serve.ts";
import { print } from "./lib/cli/terminal.ts";
import { ROOT } from "./lib/core/product.ts";
import { compressAssets } from "./lib/http/compression.ts";

const builder = new Builder({
  target: "es2022",
  serverEntry: "./app.ts",
  staticDir: STATIC_FOLDERS,
});
await bundleStyles();

if (Deno.args[0] === "build") {
  const { bundleProgram } = await import("./lib/cli/bundle.ts");
  const recordStamp = stampBuild(fromFileUrl(ROOT));
  // A first start shows these lines as its progress.
  print("Building the console\n");
  await builder.build();
  await compressAssets();
  print("Building the program\n");
  await bundleProgram();
  await recordStamp();
} else {
  const { host } = await import("./host.ts");
  await develop(host, (options) => builder.listen(() => import("./app.ts"), options));
}

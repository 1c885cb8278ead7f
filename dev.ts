import { Builder } from "fresh/dev";
import { stampBuild } from "./lib/cli/build_stamp.ts";
import { develop } from "./lib/cli/develop.ts";

const builder = new Builder({ target: "es2022" });

if (Deno.args[0] === "build") {
  await builder.build();
  await stampBuild();
} else {
  const main = await import("./main.ts");
  await develop(main.host, (options) => builder.listen(() => import("./main.ts"), options));
}

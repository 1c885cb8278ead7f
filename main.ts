import { findBuilt } from "./lib/cli/build_stamp.ts";
import { exitWith } from "./lib/cli/terminal.ts";

if (import.meta.main) {
  try {
    const built = await findBuilt();
    const { run } = await import(built ?? new URL("./start.ts", import.meta.url).href);
    run();
  } catch (error) {
    exitWith(error);
  }
}

import { startGateway } from "./lib/cli/built_program.ts";

if (import.meta.main) await startGateway();

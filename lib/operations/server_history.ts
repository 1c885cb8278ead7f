import { z } from "zod";
import { ServerHistory, serverHistory } from "../catalog/tool_history.ts";
import { fieldHints } from "./fields.ts";
import { operation, READS } from "./operation.ts";
import { KnownServer } from "./server_entry.ts";

const history = operation({
  ...READS,
  name: "server.history",
  title: "Show how a server's tools have changed",
  description: "Show how the tools of a server have changed, and what it lists wrongly.",
  input: z.strictObject({
    server: KnownServer,
    tool: z.string().optional().describe("One tool alone").register(fieldHints, { isHidden: true }),
    diffs: z.int().min(0).max(1_000).default(200)
      .describe("For how many changes, from the newest on, to tell what changed")
      .register(fieldHints, { isHidden: true }),
  }),
  output: ServerHistory,
  cli: "server tools SERVER --history",
  run: async ({ admin }, { server, tool, diffs }) =>
    serverHistory(server, await admin.history(server, tool), diffs),
});

export const HISTORY_OPERATIONS = { history };

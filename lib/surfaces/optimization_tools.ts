import type { BuiltinTool } from "./builtin_tool.ts";
import { draftingTools } from "./optimization/drafting_tools.ts";
import { jobTools } from "./optimization/job_tools.ts";
import { promotionTools } from "./optimization/promotion_tools.ts";
import { resultTools } from "./optimization/result_tools.ts";
import { spendingTools } from "./optimization/spending_tools.ts";
import type { OptimizationAdmin } from "./optimization_admin.ts";

export interface OptimizationTools {
  always: BuiltinTool[];
  /** They spend model time: not to be listed while optimization is off. */
  gated: BuiltinTool[];
}

/** The gateway's own tools for descriptions. While it is off, a gated one says how to switch it on. */
export function optimizationTools(admin: OptimizationAdmin): OptimizationTools {
  return {
    always: [
      ...draftingTools(admin),
      ...resultTools(admin),
      ...promotionTools(admin),
      ...jobTools(admin),
    ],
    gated: spendingTools(admin),
  };
}

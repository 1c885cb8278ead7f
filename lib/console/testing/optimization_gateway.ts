import type { Gateway } from "../../gateway.ts";
import { EventHub } from "../../http/event_hub.ts";
import { openOptimization } from "../../mcp/testing/open_optimization.ts";
import type { Services } from "../../operations/services.ts";
import { stubGateway } from "./stub_gateway.ts";

const FOUND = { kind: "messages-api", model: "stand-in", problem: null };
const EVALUATOR = { last: FOUND, run: () => Promise.resolve(FOUND) };

/** A stub whose optimization of `weather.forecast` and `weather.alerts` is real, but for its model. */
export async function optimizationGateway(input: { isEnabled?: boolean } = {}) {
  const opened = await openOptimization(input);
  const told: unknown[] = [];
  const events = new EventHub();
  events.publish = (type, data) => void told.push([type, data]);
  const servers = [
    { name: "weather", tools: [{ name: "forecast" }, { name: "alerts" }] },
    { name: "empty" },
  ];
  const gateway:
    & Pick<
      Gateway,
      | "optimization"
      | "evaluator"
      | "options"
      | "servers"
      | "events"
      | "callStats"
      | "promotions"
    >
    & Services = {
      ...stubGateway({ servers }),
      ...opened.services,
      promotions: opened.promotions,
      events,
      evaluator: () => Promise.resolve({ check: EVALUATOR, trial: undefined } as never),
    };
  return {
    ...opened,
    gateway,
    told,
    /** Has everything that is saved evaluated to the end, without promoting anything. */
    async evaluate(): Promise<void> {
      const options = { autoPromote: false, generate: false };
      const request = { server: "weather", tools: ["forecast"], options, by: "person" as const };
      const { id } = await opened.jobs.start(request);
      await opened.jobs.wait(id, 10_000, AbortSignal.timeout(10_000));
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

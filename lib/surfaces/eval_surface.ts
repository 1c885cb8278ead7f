import { errorText, resultText } from "../core/rpc.ts";
import { VERSION } from "../core/version.ts";
import type { ShownTool } from "../optimizer/evaluator.ts";
import { type RequestScope, type Surface, type SurfaceSession, toolNameOf } from "./surface.ts";

/** What every tool answers: enough for a model to stop, and nothing it could build on. */
const CANNED = {
  content: [{ type: "text", text: "This is a trial: the tool was not run, and nothing happened." }],
};

/** The tools of one evaluation run, as its model is to see them. Nothing leads to a server. */
export class EvalSurface implements Surface {
  readonly #tools: readonly ShownTool[];

  constructor(tools: readonly ShownTool[]) {
    this.#tools = tools;
  }

  introduce(): Promise<Record<string, unknown>> {
    return Promise.resolve({
      capabilities: { tools: {} },
      serverInfo: { name: "quartermaster-trial", version: VERSION },
    });
  }

  open(): SurfaceSession {
    return {
      request: (scope) => Promise.resolve(this.#answer(scope)),
      notify: () => {},
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  #answer({ id, method, params }: RequestScope): string {
    switch (method) {
      case "ping":
        return resultText(id, "{}");
      case "tools/list":
        return resultText(id, `{"tools":[${this.#tools.map(({ text }) => text).join(",")}]}`);
      case "tools/call": {
        const name = toolNameOf(params);
        const isListed = this.#tools.some((tool) => tool.name === name);
        if (!isListed) return errorText(id, -32602, `There is no tool "${name.slice(0, 200)}"`);
        return resultText(id, JSON.stringify(CANNED));
      }
      default:
        return errorText(id, -32601, `Method not found: ${method}`);
    }
  }
}

import type { Client } from "../../core/client.ts";
import { AnswerMode, type ServerSpec } from "../../core/server.ts";
import { ToolsetSetting, type ToolsetSettingOptions } from "../toolset_setting.ts";

/** The least strict first. */
const MODES = ["off", "mark", "block"] as const satisfies readonly AnswerMode[];

interface AnswerModesOptions extends ToolsetSettingOptions {
  /** The mode of servers whose entry names none; read at each use. */
  fallback(): AnswerMode;
  findServer(name: string): { server: { spec: ServerSpec } } | undefined;
}

/** How answers are guarded: by their server's entry and by toolsets; the stricter one counts. */
export class AnswerModes extends ToolsetSetting<AnswerMode> {
  readonly #servers: Pick<AnswerModesOptions, "fallback" | "findServer">;

  constructor({ fallback, findServer, ...options }: AnswerModesOptions) {
    const name = "toolsetAnswers";
    const action = "toolset.answers";
    super({ name, action, member: "answers", schema: AnswerMode, modes: MODES }, options);
    this.#servers = { fallback, findServer };
  }

  modeFor(server: string, { endpoint, principal }: Pick<Client, "endpoint" | "principal">) {
    const { findServer, fallback } = this.#servers;
    const mode = findServer(server)?.server.spec.answers ?? fallback();
    // The console is no endpoint: there all toolsets with the server count.
    const client = { principal, ...(endpoint === "console" ? {} : { endpoint }) };
    // For whole servers: an answer is no tool's.
    const wanted = this.modeAt(client, ({ tools }) => tools.some((one) => one.server === server));
    return wanted !== undefined && MODES.indexOf(wanted) > MODES.indexOf(mode) ? wanted : mode;
  }
}

import { styleText } from "node:util";
import type { Gateway } from "../gateway.ts";
import type { Options } from "../config/option_table.ts";
import { shownLine } from "../core/text.ts";
import { isStarting, type ServerStatus } from "../core/server.ts";
import { briefLine, type LineFormat, type LogTerminal } from "../telemetry/log_lines.ts";
import { TOKEN_PLACE } from "./client_files.ts";
import { clearStatus, isSteerable, printError, showStatus, terminalWidth } from "./terminal.ts";

/** On terminals narrower than this, each value gets its own line. */
const NARROW = 60;

export type BannerSubject =
  & Pick<Gateway, "version" | "address" | "configFile">
  & {
    logs: { readonly filePath: string | undefined };
    access: { readonly isRequired: boolean };
    servers: { list(): ServerStatus[] };
    events: { follow(listener: () => void): () => void };
  };

export interface BannerOutput {
  write(text: string): void;
  status(text: string): void;
  clear(): void;
  readonly width: number;
  readonly isColored: boolean;
}

/**
 * Terminal output for a person who starts the gateway: its URL, its servers as they come up, and
 * warnings. Everything else goes to the log file.
 */
export class Banner implements LogTerminal, Disposable {
  readonly format: LineFormat;
  readonly #output: BannerOutput;
  /** Log lines held back until the banner has been shown. */
  #early: string[] | undefined = [];
  #status = "";
  #unfollow = () => {};
  readonly #shown = new Map<string, string>();
  /** Whether all servers have been ready or failed once. */
  #isSettled = false;

  constructor(output: BannerOutput = stderrOutput()) {
    this.#output = output;
    const format = briefLine(output.isColored);
    // The banner shows server states itself.
    this.format = (json) => /"server":"[^"]*","state":/.test(json) ? undefined : format(json);
  }

  /** Undefined if stderr is not a terminal, or if every log entry is to be shown. */
  static open({ logFormat, development }: Pick<Options, "logFormat" | "development">) {
    const isWanted = logFormat === "auto" && !development && Deno.stderr.isTerminal();
    return isWanted ? new Banner() : undefined;
  }

  write(line: string): void {
    if (this.#early) this.#early.push(line);
    else this.#print(line);
  }

  show(gateway: BannerSubject): void {
    this.#print(`\n${this.#header(gateway)}\n`);
    this.#flush();
    this.#follow(gateway);
    this.#unfollow = gateway.events.follow(() => this.#follow(gateway));
  }

  stopping(): void {
    this.#unfollow();
    this.#setStatus("Stopping...");
  }

  stopped(): void {
    this.#setStatus("");
    this.#print("Stopped.\n");
  }

  [Symbol.dispose](): void {
    this.#unfollow();
    this.#setStatus("");
    this.#flush();
  }

  #header({ version, address, configFile, logs, access }: BannerSubject): string {
    const token = access.isRequired ? ` --header "Authorization: Bearer ${TOKEN_PLACE}"` : "";
    const rows = [
      ["Console", this.#paint("cyan", address)],
      ["Config", configFile ?? "none found"],
      [
        "Claude Code",
        `claude mcp add --transport http quartermaster ${address}/mcp${token}`,
      ],
      ["Log file", logs.filePath ?? "none"],
    ] as const;
    const isNarrow = this.#output.width < NARROW;
    const lines = rows.map(([label, value]) =>
      `  ${this.#paint("gray", isNarrow ? `${label}\n   ` : label.padEnd(12))} ${value}\n`
    );
    const title = this.#paint("bold", `Quartermaster ${version}`);
    return `  ${title}\n\n${lines.join("")}\n  Press Ctrl-C to stop.\n`;
  }

  #follow({ servers }: BannerSubject): void {
    const all = servers.list().filter(({ state }) => state !== "disabled");
    // One that failed and is tried again is not waited for.
    const starting = all.filter(({ name, state }) => isStarting(state) && !this.#shown.has(name));
    for (const status of all) if (!isStarting(status.state)) this.#showServer(status);
    for (const name of this.#shown.keys()) {
      if (!all.some((status) => status.name === name)) this.#shown.delete(name);
    }
    const count = `${all.filter(({ state }) => state === "ready").length} of ${all.length} ` +
      `${all.length === 1 ? "server" : "servers"} ready`;
    if (this.#isSettled) return;
    if (starting.length > 0) {
      const names = starting.map(({ name, state }) =>
        state === "starting" ? name : `${name} (${state})`
      );
      return this.#setStatus(`  ${count}; starting: ${names.join(", ")}`);
    }
    this.#isSettled = true;
    this.#setStatus("");
    this.#print(`  ${all.length === 0 ? "No servers yet: add one in the console" : count}\n`);
  }

  /** Shows each change once. Servers that come up with the gateway are only counted. */
  #showServer({ name, state, reason }: ServerStatus): void {
    const text = state === "ready" ? "ready" : shownLine(reason || state);
    const before = this.#shown.get(name);
    if (before === text) return;
    this.#shown.set(name, text);
    if (state === "ready" && before === undefined && !this.#isSettled) return;
    const mark = state === "ready"
      ? this.#paint("green", "✓")
      : state === "paused"
      ? this.#paint("gray", "-")
      : this.#paint("red", "✗");
    this.#print(`  ${mark} ${name}: ${text}\n`);
  }

  #flush(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const line of early) this.#print(line);
  }

  #print(text: string): void {
    this.#output.clear();
    this.#output.write(text);
    if (this.#status) this.#output.status(this.#status);
  }

  #setStatus(text: string): void {
    if (text === this.#status) return;
    this.#status = text;
    if (text) this.#output.status(text);
    else this.#output.clear();
  }

  #paint(style: "bold" | "cyan" | "gray" | "green" | "red", text: string): string {
    return this.#output.isColored ? styleText(style, text, { validateStream: false }) : text;
  }
}

function stderrOutput(): BannerOutput {
  return {
    write: printError,
    status: showStatus,
    clear: clearStatus,
    width: terminalWidth(Deno.stderr),
    isColored: !Deno.noColor && isSteerable(Deno.stderr),
  };
}

import { z } from "zod";
import { ImportReport, ToolsetDetail, ToolsetList } from "./toolset_answers.ts";
import type { ImportOptions, NewToolset, ToolsetsAccess } from "./toolsets_access.ts";

/** Asks a gateway's API, and answers in the shape that is wanted. */
export type AskGateway = <T>(
  schema: z.ZodType<T>,
  method: string,
  path: string,
  body?: unknown,
) => Promise<T>;

const OneToolset = z.object({ toolset: ToolsetDetail });
const Unequipped = z.object({ unequipped: z.string().nullable() });

/** The toolsets of a running gateway. */
export class ToolsetClient implements ToolsetsAccess {
  readonly #ask: AskGateway;

  constructor(ask: AskGateway) {
    this.#ask = ask;
  }

  list() {
    return this.#ask(ToolsetList, "GET", "/api/toolsets");
  }

  async show(name: string) {
    return (await this.#ask(OneToolset, "GET", toolsetPath(name))).toolset;
  }

  async create(toolset: NewToolset) {
    return (await this.#ask(OneToolset, "POST", "/api/toolsets", toolset)).toolset;
  }

  async remove(name: string): Promise<void> {
    await this.#ask(z.unknown(), "DELETE", toolsetPath(name));
  }

  async equip(name: string) {
    return (await this.#ask(OneToolset, "POST", `${toolsetPath(name)}/equip`)).toolset;
  }

  async unequip() {
    return (await this.#ask(Unequipped, "DELETE", "/api/equipped")).unequipped;
  }

  export(names: readonly string[]) {
    const query = new URLSearchParams(names.map((name) => ["name", name]));
    return this.#ask(z.unknown(), "GET", `/api/exchange/toolsets?${query}`);
  }

  import(file: unknown, { replace, dryRun }: ImportOptions) {
    const path = `/api/exchange/toolsets?replace=${replace}&dryRun=${dryRun}`;
    return this.#ask(ImportReport, "POST", path, file);
  }
}

function toolsetPath(name: string): string {
  return `/api/toolsets/${encodeURIComponent(name)}`;
}

import { composeToolsets, type ComposeToolsetsInput } from "../compose_toolsets.ts";
import { EVERYONE } from "../core/principal.ts";
import type { ToolsetsAdmin } from "../surfaces/toolsets_admin.ts";
import type { ImportReport, ToolsetDetail, ToolsetList } from "./toolset_answers.ts";
import type { ImportOptions, NewToolset, ToolsetsAccess } from "./toolsets_access.ts";

/** The toolsets as the store has them, while no gateway runs: none of their tools can be called. */
export class OfflineToolsets implements ToolsetsAccess {
  readonly #admin: ToolsetsAdmin;

  private constructor(admin: ToolsetsAdmin) {
    this.#admin = admin;
  }

  static async open(parts: ComposeToolsetsInput): Promise<OfflineToolsets> {
    const { toolsets, toolsetsAdmin } = composeToolsets(parts);
    await toolsets.load();
    return new OfflineToolsets(toolsetsAdmin);
  }

  async list(): Promise<ToolsetList> {
    const { toolsets } = this.#admin;
    const summaries = toolsets.list().map((toolset) => this.#admin.summary(toolset));
    return {
      toolsets: await Promise.all(summaries),
      equipped: toolsets.equippedBy(EVERYONE)?.name ?? null,
    };
  }

  async show(name: string): Promise<ToolsetDetail> {
    return await this.#admin.detail(this.#admin.toolsets.resolve(name));
  }

  async create(toolset: NewToolset): Promise<ToolsetDetail> {
    return await this.#admin.detail(await this.#admin.build(toolset));
  }

  remove(name: string): Promise<void> {
    return this.#admin.toolsets.remove(name);
  }

  async equip(name: string): Promise<ToolsetDetail> {
    return await this.#admin.detail(await this.#admin.toolsets.equip(EVERYONE, name));
  }

  async unequip(): Promise<string | null> {
    return await this.#admin.toolsets.unequip(EVERYONE) ?? null;
  }

  // deno-lint-ignore require-await
  async export(names: readonly string[]): Promise<unknown> {
    return this.#admin.export(names.length > 0 ? names : undefined);
  }

  import(file: unknown, options: ImportOptions): Promise<ImportReport> {
    return this.#admin.import(file, options);
  }
}

import type { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { keys } from "./keys.ts";
import type { Stored } from "./records.ts";
import { damaged } from "./storage_errors.ts";
import type { Store } from "./store.ts";

/** One small value with a name and a shape. */
export interface Setting<T> {
  name: string;
  schema: z.ZodType<T>;
}

/** Small values that outlive a restart, such as a switch that was set in the console. */
export class SettingsRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async find<T>(setting: Setting<T>): Promise<Stored<T> | undefined> {
    const record = await this.#store.read(keys.settings(setting.name));
    if (record === undefined) return undefined;
    const parsed = setting.schema.safeParse(record.value);
    if (parsed.success) return { value: parsed.data, versionstamp: record.versionstamp };
    throw damaged(this.#store.location, `setting "${setting.name}" has an unknown shape`, {
      cause: parsed.error,
    });
  }

  /** Saves whatever was there before; with a versionstamp, only over that version. */
  async save<T>(setting: Setting<T>, value: T, versionstamp?: string | null): Promise<string> {
    const key = keys.settings(setting.name);
    const saved = await this.#store.tryCommit({
      checks: versionstamp === undefined ? [] : [{ key, versionstamp }],
      sets: [{ key, value }],
    });
    if (saved !== undefined) return saved;
    throw new GatewayError("CONFLICT", {
      message: `The setting "${setting.name}" was changed by somebody else in the meantime`,
    });
  }

  async delete(setting: Setting<unknown>): Promise<void> {
    await this.#store.commit({ deletes: [keys.settings(setting.name)] });
  }
}

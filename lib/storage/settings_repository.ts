import type { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { Repository } from "./collection.ts";
import { keys } from "./keys.ts";
import type { Stored } from "./records.ts";
import { damaged } from "./storage_errors.ts";

export interface Setting<T> {
  name: string;
  schema: z.ZodType<T>;
}

/** Small values that outlive a restart, such as a switch that was set in the console. */
export class SettingsRepository extends Repository {
  async find<T>({ name, schema }: Setting<T>): Promise<Stored<T> | undefined> {
    const record = await this.store.read(keys.settings(name));
    if (record === undefined) return undefined;
    const { success, data, error } = schema.safeParse(record.value);
    if (success) return { value: data, versionstamp: record.versionstamp };
    const why = `setting "${name}" has an unknown format`;
    throw damaged(this.store.location, why, { cause: error });
  }

  /** Saves whatever was there before; with a versionstamp, only over that version. */
  async save<T>({ name }: Setting<T>, value: T, versionstamp?: string | null): Promise<string> {
    const key = keys.settings(name);
    const checks = versionstamp === undefined ? [] : [{ key, versionstamp }];
    const saved = await this.store.tryCommit({ checks, sets: [{ key, value }] });
    if (saved !== undefined) return saved;
    throw new GatewayError("CONFLICT", {
      message: `Someone else changed the setting "${name}" in the meantime`,
    });
  }

  async delete({ name }: Setting<unknown>): Promise<void> {
    await this.store.commit({ deletes: [keys.settings(name)] });
  }
}

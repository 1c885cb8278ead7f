import { z } from "zod";
import { keys } from "./keys.ts";
import type { Store } from "./store.ts";

const KeptFinding = z.strictObject({
  rule: z.string(),
  severity: z.enum(["low", "medium", "high"]),
  where: z.string(),
  excerpt: z.string(),
  why: z.string(),
});

/** What was found in one server's tools. */
export const KeptVerdicts = z.strictObject({
  /** Other where the rules are, or what the tools were judged among. */
  stamp: z.string(),
  /** Fingerprints of definitions with nothing in them. */
  clean: z.array(z.string()),
  found: z.array(z.strictObject({ fingerprint: z.string(), findings: z.array(KeptFinding) })),
});
export type KeptVerdicts = z.infer<typeof KeptVerdicts>;

/** The scanner's findings, so that a start need not look at every definition again. */
export class VerdictsRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** What cannot be read is found again. */
  async find(server: string): Promise<KeptVerdicts | undefined> {
    const record = await this.#store.read(keys.verdictsOf(server));
    return KeptVerdicts.safeParse(record?.value).data;
  }

  async save(server: string, value: KeptVerdicts): Promise<void> {
    const key = keys.verdictsOf(server);
    await this.#store.commit({ sets: [{ key, value }], announce: false });
  }
}

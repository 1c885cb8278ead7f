import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "@std/path";
import { z } from "zod";

// It is in a path that the model is told: it must not say anything.
const PREFIX = "run_";
const OWNER_FILE = "owner.json";

/** Whose folder it is. `place` names the store that knows the lease, and no other. */
const Owner = z.strictObject({ place: z.string(), lease: z.string() });

export interface RunFoldersOptions {
  /** The store that this gateway's lease is in. */
  store: string;
  leaseId: string;
  /** Where the folders are; the system's folder for such things unless told. */
  root?: string;
}

/** A folder for each run, which says whose it is: so those that a killed gateway left are found. */
export class RunFolders {
  readonly #options: RunFoldersOptions;

  constructor(options: RunFoldersOptions) {
    this.#options = options;
  }

  async make(): Promise<string> {
    const folder = await Deno.makeTempDir({ dir: this.#root, prefix: PREFIX });
    const owner: z.infer<typeof Owner> = { place: this.#place, lease: this.#options.leaseId };
    const path = join(folder, OWNER_FILE);
    await Deno.writeTextFile(path, JSON.stringify(owner), { mode: 0o600, createNew: true });
    return folder;
  }

  /** Removes what gateways of this store left that are no more; answers how many. */
  async sweep(isLeaseAlive: (id: string) => Promise<boolean>): Promise<number> {
    let removed = 0;
    for await (const { name, isDirectory } of Deno.readDir(this.#root)) {
      if (!isDirectory || !name.startsWith(PREFIX)) continue;
      const folder = join(this.#root, name);
      const owner = await ownerOf(folder);
      // A gateway with another store may be alive for all that this one knows.
      if (owner?.place !== this.#place || await isLeaseAlive(owner.lease)) continue;
      await Deno.remove(folder, { recursive: true });
      removed++;
    }
    return removed;
  }

  get #root(): string {
    return this.#options.root ?? tmpdir();
  }

  get #place(): string {
    return createHash("sha256").update(this.#options.store).digest("hex").slice(0, 16);
  }
}

/** Undefined where it does not say so, or is another user's or just gone. */
async function ownerOf(folder: string): Promise<z.infer<typeof Owner> | undefined> {
  try {
    return Owner.parse(JSON.parse(await Deno.readTextFile(join(folder, OWNER_FILE))));
  } catch {
    return undefined;
  }
}

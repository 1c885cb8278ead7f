import type { Platform } from "./config/deployment.ts";
import type { Options } from "./config/option_table.ts";
import type { OnAudit } from "./core/audit.ts";
import type { ServerSpec } from "./core/server.ts";
import { ServerSecrets } from "./downstream/server_secrets.ts";
import type { AesBox } from "./storage/secret_box.ts";
import { SecretsRepository } from "./storage/secrets_repository.ts";
import { ServersRepository } from "./storage/servers_repository.ts";
import type { Store } from "./storage/store.ts";
import type { SecretsAdmin } from "./surfaces/secrets_admin.ts";

/** Long enough for the servers of a start to be connected. */
const SEAL_AFTER_MS = 5_000;

export interface ComposeSecretsInput {
  store: Store;
  options: Pick<Options, "secretKey" | "dataDir">;
  platform: Pick<Platform, "canWrite">;
  learn(values: string[]): void;
  onAudit?: OnAudit | undefined;
}

export type Secrets = ReturnType<typeof composeSecrets>;

/** Secrets, and the box they are sealed in. Whoever has none pays for one look into the store. */
export function composeSecrets(input: ComposeSecretsInput) {
  const { store, options, platform, learn, onAudit } = input;
  let opened: Promise<AesBox> | undefined;
  /** Opened at first use: its key may have to be made. */
  function box(): Promise<AesBox> {
    if (opened) return opened;
    const asked = opened = openBox();
    // What is wrong with its file may be put right while we run.
    asked.catch(() => opened = undefined);
    return asked;
  }
  async function openBox(): Promise<AesBox> {
    const { openSecretBox } = await import("./storage/secret_key.ts");
    return await openSecretBox({
      secretKey: options.secretKey,
      dataDir: platform.canWrite ? options.dataDir : undefined,
      location: store.location,
    });
  }
  const keyId = async () => (await box()).keyId;

  const repository = new SecretsRepository(store, box);
  const used = new ServerSecrets({ repository, keyId, learn });
  return {
    box,
    prepare: used.prepare.bind(used),
    fill: used.fill.bind(used),
    /** Loaded at first use. */
    async admin(
      servers: () => Promise<{ name: string; spec: ServerSpec }[]>,
      onChanged?: () => Promise<void>,
    ): Promise<SecretsAdmin> {
      const { SecretsAdmin } = await import("./surfaces/secrets_admin.ts");
      return new SecretsAdmin({
        repository,
        keyId,
        servers,
        learn,
        onAudit,
        ...(onChanged ? { onChanged } : {}),
      });
    },
    /** Seals what an earlier version kept as it was, once the start is over. */
    sealSoon(
      stack: AsyncDisposableStack,
      onWarning: (message: string, details?: object) => void,
    ): void {
      let sealing: Promise<unknown> = Promise.resolve();
      const timer = setTimeout(() => {
        sealing = new ServersRepository(store, box).sealPlain().catch((error) =>
          onWarning("Secrets in the entries of servers are kept as they are", { error })
        );
      }, SEAL_AFTER_MS);
      stack.defer(async () => {
        clearTimeout(timer);
        await sealing;
      });
    },
  };
}

import type { Platform } from "../config/platform.ts";
import { once } from "../core/async.ts";
import type { Options } from "../config/option_table.ts";
import { ServerSecrets } from "./server_secrets.ts";
import type { AesBox } from "../storage/sealing.ts";
import { SecretsRepository } from "../storage/secrets_repository.ts";
import { ServersRepository } from "../storage/servers_repository.ts";
import type { Store } from "../storage/store.ts";
import type { Redactor } from "../telemetry/redact.ts";

/** Long enough for the servers of a start to be connected. */
const SEAL_AFTER_MS = 5_000;

export type SecretsModule = ReturnType<typeof buildSecrets>;

/** Secrets that entries refer to, and the box they are sealed in. Without any, costs one read. */
export function buildSecrets({ store, options, platform, logs }: {
  store: Store;
  options: Pick<Options, "secretKey" | "dataDir">;
  platform: Pick<Platform, "canWrite">;
  logs: { redactor: Pick<Redactor, "learn"> };
}) {
  /** Opened at first use: its key may have to be made, and a broken key file may be repaired. */
  const box = once(async (): Promise<AesBox> => {
    const { openSecretBox } = await import("../storage/secret_key.ts");
    return await openSecretBox({
      secretKey: options.secretKey,
      dataDir: platform.canWrite ? options.dataDir : undefined,
      location: store.location,
    });
  });
  const keyId = async () => (await box()).keyId;

  const repository = new SecretsRepository(store, box);
  const used = new ServerSecrets({
    repository,
    keyId,
    learn: (values) => logs.redactor.learn(values),
  });
  return {
    repository,
    box,
    keyId,
    prepare: used.prepare.bind(used),
    fill: used.fill.bind(used),
    /** Seals, once the start is over, what an earlier version stored in plain text. */
    sealSoon(
      stack: AsyncDisposableStack,
      onWarning: (message: string, details?: object) => void,
    ) {
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

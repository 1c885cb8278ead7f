import { createHmac } from "node:crypto";
import type { OnAudit } from "./core/audit.ts";
import { GatewayError } from "./core/errors.ts";
import { once } from "./core/once.ts";
import type { Platform } from "./config/deployment.ts";
import type { SecretBox } from "./storage/secret_box.ts";
import { signingSecret } from "./storage/signing_secret.ts";
import type { Store } from "./storage/store.ts";
import type { Consents, Wish } from "./surfaces/consents.ts";
import type { ServersAdmin } from "./surfaces/servers_admin.ts";

export interface ComposeConsentsInput {
  store: Store;
  platform: Pick<Platform, "canSpawn">;
  box(): Promise<SecretBox>;
  address: string;
  admin(): ServersAdmin;
  onAudit?: OnAudit | undefined;
  /** Something waits, or was decided. */
  onConsents?: (() => void) | undefined;
}

/** Programs that wait for their owner's consent; loaded when somebody wants one, or looks. */
export function composeConsents(input: ComposeConsentsInput) {
  const { store, platform, box, address, admin, onAudit, onConsents } = input;

  const consents = once(async (): Promise<Consents> => {
    const { Consents } = await import("./surfaces/consents.ts");
    const { ConsentsRepository } = await import("./storage/consents_repository.ts");
    const secret = await signingSecret(store);
    return new Consents({
      repository: new ConsentsRepository(store, box),
      sign: (text) =>
        Promise.resolve(
          createHmac("sha256", secret).update(`consent ${text}`).digest("hex").slice(0, 16),
        ),
      address,
      apply({ wish, name, spec, origin }) {
        // Its owner lets it run, and has not chosen it: what it changes waits for approval.
        const wanted = { ...spec, trust: "untrusted" as const };
        const by = { ...origin, isHere: false, hasAgreed: true };
        return wish === "add"
          ? admin().add(name, wanted, { by })
          : admin().update(name, wanted, { by });
      },
      onAudit,
      onChanged: onConsents,
    });
  });

  return {
    consents,
    async askConsent(wish: Wish): Promise<GatewayError> {
      if (!platform.canSpawn) {
        return new GatewayError("NOT_AVAILABLE_HERE", {
          message: "Programs cannot be started on this platform",
        });
      }
      return await (await consents()).ask(wish);
    },
  };
}

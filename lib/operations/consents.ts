import { counted } from "../core/text.ts";
import { createHmac } from "node:crypto";
import * as z from "zod";
import type { Access } from "../auth/access.ts";
import { EVERYONE, type OnAudit, ownerOf } from "../core/access.ts";
import type { SecretBox } from "../storage/sealing.ts";
import { signingSecret } from "../storage/secrets_repository.ts";
import type { Store } from "../storage/store.ts";
import { ConsentsRepository, ConsentView } from "../storage/consents_repository.ts";
import { fieldHints } from "./fields.ts";
import { MANAGES, operation, READS_GUARDED } from "./operation.ts";
import type { ServersAdmin } from "./servers_admin.ts";

interface ConsentsInput {
  store: Store;
  box(): Promise<SecretBox>;
  address: string;
  onAudit: OnAudit;
  /** A request was made or decided. */
  onChanged(): void;
}

/** Opens the requests for programs that wait for the owner's consent. */
export async function openConsents(
  { store, box, address, onAudit, onChanged }: ConsentsInput,
  admin: ServersAdmin,
) {
  const { Consents } = await import("../trust/consents.ts");
  const secret = await signingSecret(store);
  return new Consents({
    repository: new ConsentsRepository(store, box),
    sign: (text) =>
      Promise.resolve(
        createHmac("sha256", secret).update(`consent ${text}`).digest("hex").slice(0, 16),
      ),
    address,
    find: (name) => admin.list().find((server) => server.name === name),
    apply({ wish, name, spec, origin }) {
      // The owner allowed this server but did not choose it: its tool changes are held for review.
      const wanted = { ...spec, trust: "untrusted" as const };
      const by = { ...origin, isHere: false, hasAgreed: true };
      return wish === "add" ? admin.add(name, wanted, { by }) : admin.update(name, wanted, { by });
    },
    onAudit,
    onChanged,
  });
}

const ShownConsent = ConsentView.extend({ who: z.string().describe("Who sent the request") });
export type ShownConsent = z.infer<typeof ShownConsent>;

const ConsentId = z.string().describe("The request's id").register(fieldHints, {
  completes: "consent",
});

const list = operation({
  ...READS_GUARDED,
  name: "consent.list",
  title: "List requests for consent",
  description: "List requests to add programs and local servers that are waiting for consent.",
  input: z.strictObject({}),
  output: z.object({ consents: z.array(ShownConsent) }),
  cli: "consent list",
  async run({ consents, access }) {
    const views = await (await consents()).list(true);
    return { consents: views.map((view) => ({ ...view, who: requesterOf(view, access) })) };
  },
});

const approve = operation({
  ...MANAGES,
  name: "consent.approve",
  title: "Approve a request",
  description:
    "Approve a requested program or local URL. It starts now and whenever the gateway starts.",
  input: z.strictObject({ id: ConsentId }),
  output: z.object({
    server: z.looseObject({
      name: z.string(),
      state: z.string(),
      reason: z.string(),
      toolCount: z.int(),
    }),
  }),
  // Otherwise callers could approve their own requests.
  from: "this-machine",
  cli: "consent approve ID",
  run: async ({ consents }, { id }) => ({ server: { ...await (await consents()).approve(id) } }),
  text: ({ server: { name, state, toolCount, reason } }) =>
    state === "ready"
      ? `Started ${name}: ${counted(toolCount, "tool")}. It is marked as untrusted.`
      : `Started ${name} (${state.replace("_", " ")}): ${reason}`,
});

const refuse = operation({
  ...MANAGES,
  name: "consent.refuse",
  title: "Refuse a request",
  description: "Refuse a requested program or local URL. Nothing is started.",
  input: z.strictObject({ id: ConsentId }),
  output: z.object({ refused: z.string() }),
  cli: "consent refuse ID",
  run: async ({ consents }, { id }) => ({ refused: await (await consents()).refuse(id) }),
  text: ({ refused }) => `Refused ${refused}. Nothing was started.`,
});

export const CONSENT_OPERATIONS = { list, approve, refuse };

/** What a person calls whoever sent a request. */
export function requesterOf(
  { origin: { principal } }: ConsentView,
  access: Pick<Access, "nameOf">,
): string {
  // Without tokens, not even the machine is known for sure.
  const isKnown = principal !== undefined && ownerOf(principal) !== EVERYONE;
  return isKnown ? access.nameOf(principal) : "someone without a token";
}

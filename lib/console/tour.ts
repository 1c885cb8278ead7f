import * as z from "zod";
import type { Gateway } from "../gateway.ts";
import { type Setting, SettingsRepository } from "../storage/settings_repository.ts";

/** Kept once it has begun, so that it goes on when the gateway is no longer empty. */
const TOUR: Setting<"begun" | "over"> = { name: "tour", schema: z.enum(["begun", "over"]) };

/** The three steps of a first run; each is done by doing it, wherever that happens. */
export interface Tour {
  hasServer: boolean;
  hasChoice: boolean;
  client?: string;
  endpoint: string;
}

type TourGateway = Pick<
  Gateway,
  "servers" | "toolsets" | "endpoints" | "address" | "activityDays" | "store"
>;

/** The tour: it begins on an empty gateway, and goes on until it is finished or sent away. */
export async function tourOf(gateway: TourGateway): Promise<Tour | undefined> {
  const hasServer = gateway.servers.list().some(({ source }) => source.kind !== "demo");
  const [session] = gateway.endpoints.host.sessions.list();
  if (!await isUnderWay(gateway, hasServer, session !== undefined)) return undefined;
  return {
    hasServer,
    hasChoice: gateway.toolsets.toolsets.list().length > 0,
    ...(session === undefined ? {} : { client: clientName(session.profile.clientInfo) }),
    endpoint: `${gateway.address}/mcp`,
  };
}

export async function finishTour(settings: SettingsRepository): Promise<void> {
  await settings.save(TOUR, "over");
}

async function isUnderWay(
  { activityDays, store }: TourGateway,
  hasServer: boolean,
  hasClient: boolean,
): Promise<boolean> {
  try {
    const settings = new SettingsRepository(store);
    const state = (await settings.find(TOUR))?.value;
    if (state === "over" || (state === undefined && hasServer)) return false;
    // A gateway with calls needs no tour, except to show that its client has connected.
    const isUsed = (await activityDays()).some(({ calls }) => calls > 0);
    if (isUsed && !(state === "begun" && hasClient)) return false;
    if (state === undefined) await settings.save(TOUR, "begun");
    return true;
  } catch {
    // A store that fails says so itself; a newcomer has other worries then.
    return false;
  }
}

const ClientInfo = z.looseObject({ title: z.string().optional(), name: z.string().optional() });

export function clientName(info: unknown, unnamed = "A client"): string {
  const { title, name } = ClientInfo.safeParse(info).data ?? {};
  return title ?? name ?? unnamed;
}

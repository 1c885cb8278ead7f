import { z } from "zod";
import type { Gateway } from "../compose.ts";
import { EVERYONE, ownerOf } from "../core/principal.ts";
import { SHOWS_EQUIPPED } from "../surfaces/views.ts";

/** The clients that see something, as far as they are there. */
export interface Audience {
  count: number;
  /** By the names they gave, each once: "Cursor", "Claude Code (2)". */
  names: string[];
  /** How many names are left out. */
  more: number;
}

/** Clients do not say goodbye: one that has neither listened nor asked this long is not counted. */
const GONE_MS = 60_000;
const NAMES = 5;
const NAME_CHARS = 40;

const ClientInfo = z.looseObject({ title: z.string().optional(), name: z.string().optional() });

type AudienceGateway = Pick<Gateway, "doors">;

/** The clients whose list has the tools of what is equipped. */
export function equippedAudience(gateway: AudienceGateway, principal = EVERYONE): Audience {
  return audienceOf(
    gateway,
    (session) =>
      ownerOf(session.principal) === ownerOf(principal) && SHOWS_EQUIPPED.test(session.door),
  );
}

/** The clients at a toolset's own door. */
export function doorAudience(gateway: AudienceGateway, toolset: string): Audience {
  return audienceOf(gateway, ({ door }) => door === `toolsets/${toolset}?`);
}

function audienceOf(
  { doors }: AudienceGateway,
  isMeant: (session: { door: string; principal: string }) => boolean,
): Audience {
  const now = Date.now();
  const sessions = doors.host.sessions.list().filter((session) =>
    isMeant(session) && session.idleMs(now) < GONE_MS
  );
  const byName = Map.groupBy(sessions, ({ client }) => nameOf(client.clientInfo));
  const names = [...byName].map(([name, { length }]) => length === 1 ? name : `${name} (${length})`)
    .sort();
  return {
    count: sessions.length,
    names: names.slice(0, NAMES),
    more: Math.max(0, names.length - NAMES),
  };
}

function nameOf(info: unknown): string {
  const { title, name } = ClientInfo.safeParse(info).data ?? {};
  const words = (title ?? name ?? "").trim().slice(0, NAME_CHARS).toWellFormed();
  return words === "" ? "a client without a name" : words;
}

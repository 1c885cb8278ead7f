import { ADMIN } from "../../../../lib/auth/credentials.ts";
import type { Gateway } from "../../../../lib/gateway.ts";
import { EVERYONE, ownerOf } from "../../../../lib/core/access.ts";
import { cookieOf } from "../../../../lib/http/console_gate.ts";
import { isLoopback } from "../../../../lib/config/address.ts";
import {
  type WaitingCounts,
  waitingCounts,
  type WaitingGateway,
} from "../../../../lib/console/frame.ts";

export interface SecurityOverview {
  isRequired: boolean;
  reasons: string[];
  tokens: number;
  expired: number;
  projects: number;
  secrets: number;
  waiting: WaitingCounts;
  /** Who looks at the page; undefined where nobody is asked. */
  caller?: { name: string; isAdmin: boolean; rights: string[] };
  isLoggedIn: boolean;
}

type OverviewGateway =
  & Pick<
    Gateway,
    "access" | "accessAdmin" | "consoleLogins" | "options" | "platform" | "secrets"
  >
  & WaitingGateway;

export async function securityOverview(
  gateway: OverviewGateway,
  principal: string,
  request: Request,
): Promise<SecurityOverview> {
  const { access, accessAdmin, consoleLogins } = gateway;
  const [tokens, projects, { secrets }, waiting] = await Promise.all([
    accessAdmin.tokens(),
    accessAdmin.projects(),
    gateway.secrets().then((admin) => admin.list()),
    waitingCounts(gateway),
  ]);
  const now = Date.now();
  const cookie = cookieOf(request);
  const owner = ownerOf(principal);
  return {
    isRequired: access.isRequired,
    reasons: reasonsFor(gateway),
    tokens: tokens.length,
    expired: tokens.filter(({ expiresAt = Infinity }) => expiresAt <= now).length,
    projects: projects.length,
    secrets: secrets.length,
    waiting,
    ...(owner === EVERYONE ? {} : {
      caller: {
        name: access.nameOf(principal),
        isAdmin: owner === ADMIN,
        rights: [...access.grants(principal).rights],
      },
    }),
    isLoggedIn: cookie !== undefined && consoleLogins.find(cookie) !== undefined,
  };
}

function reasonsFor({ access, options, platform }: OverviewGateway): string[] {
  const { requireToken, host, publicUrl } = options.options;
  if (!access.isRequired) {
    return [`It listens on ${host}, where only this machine can reach it.`];
  }
  return [
    ...(requireToken ? ["It was started with --require-token."] : []),
    ...(platform.name === "deploy" ? ["It runs on Deno Deploy, where anyone can reach it."] : []),
    ...(isLoopback(host) || platform.name === "deploy"
      ? []
      : [`It listens on ${host}, where other machines can reach it.`]),
    ...(publicUrl === undefined || isLoopback(new URL(publicUrl).hostname)
      ? []
      : [`Its public URL is ${publicUrl}.`]),
  ];
}

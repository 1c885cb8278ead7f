import { z } from "zod";
import { GatewayError } from "../core/errors.ts";
import { fieldHints } from "./fields.ts";
import { AttemptView, LoginView } from "./login_admin.ts";
import { MANAGES, operation, READS } from "./operation.ts";
import { KnownServer } from "./server_entry.ts";
import { Status } from "./servers.ts";

const login = operation({
  ...MANAGES,
  name: "server.login",
  title: "Log in to a server",
  description: "Log in to a server that asks for it (OAuth), in a browser.",
  input: z.strictObject({
    name: KnownServer,
    clientId: z.string().min(1).max(2_000).optional().describe("A client id you were given")
      .register(fieldHints, { placeholder: "ID", completes: "nothing" }),
    clientSecret: z.string().min(1).max(2_000).optional()
      .describe("The secret of that client, if it has one")
      .register(fieldHints, { isHidden: true }),
  }),
  output: z.object({
    login: z.object({
      attempt: z.string(),
      url: z.string().describe("Where the person logs in"),
      issuer: z.string(),
      scopes: z.array(z.string()),
      expiresAt: z.number(),
    }),
  }),
  cli: "server login NAME",
  isLive: true,
  async run({ serverLogins }, { name, clientId, clientSecret }) {
    if (clientId === undefined && clientSecret !== undefined) {
      throw new GatewayError("INVALID_ARGUMENTS", { message: "A client secret needs its id" });
    }
    const client = clientId === undefined ? undefined : { id: clientId, secret: clientSecret };
    return { login: await (await serverLogins()).start(name, client) };
  },
});

const status = operation({
  ...READS,
  name: "server.login_status",
  title: "Show the login to a server",
  description: "Show the login to a server, or how a login that was begun stands.",
  input: z.strictObject({
    name: KnownServer,
    attempt: z.string().max(200).optional().describe("A login that was begun"),
  }),
  output: z.object({
    server: Status,
    login: LoginView.nullable(),
    attempt: AttemptView.optional(),
  }),
  async run({ admin, serverLogins }, { name, attempt: id }) {
    const logins = await serverLogins();
    const { server } = admin.describe(name);
    const login = await logins.describe(name) ?? null;
    if (id === undefined) return { server, login };
    const attempt = await logins.attempt(name, id);
    if (attempt) return { server, login, attempt };
    throw new GatewayError("LOGIN_FAILED", {
      message: `The login to "${name}" has run out: nobody came back within 10 minutes`,
    });
  },
});

const logout = operation({
  ...MANAGES,
  name: "server.logout",
  title: "Log out of a server",
  description: "Forget the login to a server, and have it revoked if that can be asked for.",
  input: z.strictObject({ name: KnownServer }),
  output: z.object({ server: z.string(), existed: z.boolean(), revoked: z.boolean() }),
  cli: "server logout NAME",
  isLive: true,
  run: async ({ serverLogins }, { name }) => ({
    server: name,
    ...await (await serverLogins()).logout(name),
  }),
  text({ server, existed, revoked }) {
    if (!existed) return `There was no login to ${server}.`;
    return revoked
      ? `Logged out of ${server}; the authorization server has revoked the login.`
      : `Logged out of ${server}. The authorization server was not heard to revoke the login: ` +
        "what was given may work elsewhere until it runs out.";
  },
});

export const LOGIN_OPERATIONS = { login, status, logout };

import * as z from "zod";
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
  description: "Log in to a server that requires OAuth, in a browser.",
  input: z.strictObject({
    name: KnownServer,
    clientId: z.string().min(1).max(2_000).optional().describe("OAuth client id, if you have one")
      .register(fieldHints, { placeholder: "ID", completes: "nothing" }),
    clientSecret: z.string().min(1).max(2_000).optional()
      .describe("The client's secret, if it has one")
      .register(fieldHints, { isHidden: true }),
  }),
  output: z.object({
    login: z.object({
      attempt: z.string(),
      url: z.string().describe("URL to log in at"),
      issuer: z.string(),
      scopes: z.array(z.string()),
      expiresAt: z.number(),
    }),
  }),
  cli: "server login NAME",
  isLive: true,
  async run({ serverLogins }, { name, clientId, clientSecret }) {
    if (clientId === undefined && clientSecret !== undefined) {
      throw new GatewayError("INVALID_ARGUMENTS", {
        message: "A client secret requires a client id",
      });
    }
    const client = clientId === undefined ? undefined : { id: clientId, secret: clientSecret };
    return { login: await (await serverLogins()).start(name, client) };
  },
});

const status = operation({
  ...READS,
  name: "server.login_status",
  title: "Show the login to a server",
  description: "Show the login to a server, or the status of a login in progress.",
  input: z.strictObject({
    name: KnownServer,
    attempt: z.string().max(200).optional().describe("Id of a login in progress"),
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
      message: `The login to "${name}" expired: it was not completed within 10 minutes`,
    });
  },
});

const logout = operation({
  ...MANAGES,
  name: "server.logout",
  title: "Log out of a server",
  description:
    "Delete the login to a server, and revoke it if the authorization server supports that.",
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
      : `Logged out of ${server}. The authorization server did not confirm the revocation: ` +
        "the login's tokens may stay valid until they expire.";
  },
});

export const LOGIN_OPERATIONS = { login, status, logout };

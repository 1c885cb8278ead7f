import * as z from "zod";
import { ServerName } from "../core/server.ts";
import { collection } from "./collection.ts";
import { keys } from "./keys.ts";
import { SealedRepository } from "./sealing.ts";

export const ClientAuth = z.enum(["none", "client_secret_basic", "client_secret_post"]);
export type ClientAuth = z.infer<typeof ClientAuth>;

/** How we came to be a client of an authorization server. */
const ClientOrigin = z.enum(["given", "registered", "document"]);

/** What a login is bound to: it is used with these, and with nothing else. */
const bindings = {
  server: ServerName,
  /** Stands for the server's address when the login was made, which may hold a secret. */
  addressMark: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  clientAuth: ClientAuth,
  clientOrigin: ClientOrigin,
  /** Kept: a refresh token only ever goes where it came from. */
  tokenEndpoint: z.string(),
  revocationEndpoint: z.string().optional(),
  scopes: z.array(z.string()),
  /** Whether the server was added at run time, and so takes its login along when it is removed. */
  isAdded: z.boolean(),
};

/** The credentials; never shown. */
const secrets = {
  /** The server's address as authorization servers know it; a secret may be part of its path. */
  resource: z.string(),
  clientSecret: z.string().optional(),
  /** Absent where the login has ended. */
  accessToken: z.string().optional(),
  refreshToken: z.string().optional(),
};

const shown = {
  ...bindings,
  /** Another one for each login. */
  id: z.string(),
  loggedInAt: z.number(),
  issuedAt: z.number(),
  expiresAt: z.number().optional(),
  trouble: z.string().optional(),
};

const Secrets = z.strictObject(secrets);
const StoredLogin = z.strictObject({ ...shown, hasTokens: z.boolean(), sealed: z.string() });
const StoredLogins = collection({
  noun: "login",
  key: keys.logins,
  schema: StoredLogin,
  idOf: ({ server }) => server,
});
const Claim = z.strictObject({ by: z.string(), until: z.number() });

export const Login = z.strictObject({ ...shown, ...secrets });
export type Login = z.infer<typeof Login>;

export type LoginOutline = Omit<z.infer<typeof StoredLogin>, "sealed">;

export interface FoundLogin {
  login: Login;
  versionstamp: string;
}

export interface LoginClaim {
  server: string;
  versionstamp: string;
}

/** What servers gave us when somebody logged in; secrets are sealed before they are written. */
export class LoginsRepository extends SealedRepository {
  readonly #records = new StoredLogins(this.store);

  async outlines(): Promise<LoginOutline[]> {
    return (await this.#records.values()).map(outlineOf);
  }

  async findOutline(server: string): Promise<LoginOutline | undefined> {
    const found = await this.#records.find(server);
    return found && outlineOf(found.value);
  }

  async find(server: string): Promise<FoundLogin | undefined> {
    const found = await this.#records.find(server);
    if (found === undefined) return undefined;
    const { sealed, hasTokens: _, ...rest } = found.value;
    const opened = Secrets.parse(JSON.parse(await this.unseal(sealed, purposeOf(server))));
    return { login: { ...rest, ...opened }, versionstamp: found.versionstamp };
  }

  async replace(login: Login): Promise<void> {
    await this.store.commit({
      sets: [{ key: keys.logins(login.server), value: await this.#seal(login) }],
      deletes: [keys.loginClaims(login.server)],
    });
  }

  /**
   * Saves what a renewal brought; false if the login is another one by now. Other gateways need
   * not hear of it at once, unless it has ended: they look here when they need a token.
   */
  async saveRenewed(login: Login, versionstamp: string, claim: LoginClaim): Promise<boolean> {
    const key = keys.logins(login.server);
    const claimKey = keys.loginClaims(login.server);
    const saved = await this.store.tryCommit({
      checks: [{ key, versionstamp }, { key: claimKey, versionstamp: claim.versionstamp }],
      sets: [{ key, value: await this.#seal(login) }],
      deletes: [claimKey],
      announce: login.accessToken === undefined,
    });
    return saved !== undefined;
  }

  /** Gives the right to renew to one of those who ask, until it is released or runs out. */
  async claim(server: string, by: string, limitMs: number): Promise<LoginClaim | undefined> {
    const key = keys.loginClaims(server);
    const record = await this.store.read(key);
    const held = Claim.safeParse(record?.value);
    if (held.success && held.data.until > Date.now()) return undefined;
    const versionstamp = await this.store.tryCommit({
      checks: [{ key, versionstamp: record?.versionstamp ?? null }],
      sets: [{ key, value: { by, until: Date.now() + limitMs } }],
      announce: false,
    });
    return versionstamp === undefined ? undefined : { server, versionstamp };
  }

  async release({ server, versionstamp }: LoginClaim): Promise<void> {
    const key = keys.loginClaims(server);
    await this.store.tryCommit({
      checks: [{ key, versionstamp }],
      deletes: [key],
      announce: false,
    });
  }

  async delete(server: string): Promise<void> {
    await this.store.commit({ deletes: [keys.logins(server), keys.loginClaims(server)] });
  }

  async #seal(login: Login): Promise<z.infer<typeof StoredLogin>> {
    const { resource, clientSecret, accessToken, refreshToken, ...rest } = login;
    const text = JSON.stringify({ resource, clientSecret, accessToken, refreshToken });
    const sealed = await this.seal(text, purposeOf(login.server));
    return { ...rest, hasTokens: accessToken !== undefined, sealed };
  }
}

function purposeOf(server: string): string {
  return `login ${server}`;
}

function outlineOf({ sealed: _, ...outline }: z.infer<typeof StoredLogin>): LoginOutline {
  return outline;
}

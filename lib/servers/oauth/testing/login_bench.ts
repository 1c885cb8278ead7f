import assert from "node:assert/strict";
import {
  AuthorizationServer,
  type Behavior,
} from "../../../../tests/fixtures/authorization_server.ts";
import { LoginsRepository } from "../../../storage/logins_repository.ts";
import { PendingLoginsRepository } from "../../../storage/pending_logins_repository.ts";
import type { SecretBox } from "../../../storage/sealing.ts";
import { Store } from "../../../storage/store.ts";
import { addressMark, ServerLogin } from "../server_login.ts";
import {
  LoginFlow,
  type LoginFlowOptions,
  type LoginTarget,
  type LoginWish,
} from "../login_flow.ts";

/** Seals so that a test can tell what was sealed. */
export const PLAIN_BOX: SecretBox = {
  seal: (text) => Promise.resolve(`sealed:${btoa(encodeURIComponent(text))}`),
  open: (sealed) => Promise.resolve(decodeURIComponent(atob(sealed.replace(/^sealed:/, "")))),
};

const REDIRECT_URI = "http://127.0.0.1:1/oauth/callback";
const signal = new AbortController().signal;

/** A store, an authorization server with an MCP server behind it, and a flow between them. */
export class LoginBench implements AsyncDisposable {
  readonly authority: AuthorizationServer;
  readonly store: Store;
  readonly repository: LoginsRepository;
  readonly flow: LoginFlow;
  /** What must not be logged. */
  readonly learned: string[] = [];

  private constructor(
    store: Store,
    behavior: Partial<Behavior>,
    options: Partial<LoginFlowOptions>,
  ) {
    this.store = store;
    this.authority = new AuthorizationServer(behavior);
    const box = () => Promise.resolve(PLAIN_BOX);
    this.repository = new LoginsRepository(store, box);
    this.flow = new LoginFlow({
      repository: this.repository,
      pending: new PendingLoginsRepository(store, box),
      redirectUri: REDIRECT_URI,
      learn: (secrets) => void this.learned.push(...secrets),
      ...options,
    });
  }

  static async open(
    behavior: Partial<Behavior> = {},
    options: Partial<LoginFlowOptions> = {},
  ): Promise<LoginBench> {
    return new LoginBench(await Store.open({ location: ":memory:" }), behavior, options);
  }

  start(wish: LoginWish = {}, target: Partial<LoginTarget> = {}) {
    const { url } = this.authority;
    return this.flow.start(
      { name: "files", url, headers: {}, mark: addressMark(url), isAdded: true, ...target },
      wish,
      signal,
    );
  }

  /** Goes where a person would, and gives what comes back. */
  async visit(url: string): Promise<URLSearchParams> {
    const response = await fetch(url, { redirect: "manual" });
    await response.body?.cancel();
    assert.equal(response.status, 302, "the login page sends people back");
    return new URL(response.headers.get("location") ?? "").searchParams;
  }

  finish(answer: URLSearchParams, isStillAt = () => true) {
    return this.flow.finish(answer, isStillAt, signal);
  }

  async logIn(wish: LoginWish = {}): Promise<void> {
    await this.finish(await this.visit((await this.start(wish)).url));
  }

  /** The login as one gateway has it. */
  serverLogin(owner = "a", url = this.authority.url): ServerLogin {
    return new ServerLogin({
      server: "files",
      mark: addressMark(url),
      owner,
      repository: this.repository,
      learn: (secrets) => void this.learned.push(...secrets),
      onWarning: () => {},
      signal,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.authority[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

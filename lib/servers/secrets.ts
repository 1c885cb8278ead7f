import { systemEnv } from "../config/platform.ts";
import { GatewayError } from "../core/errors.ts";
import { fillSecrets, isStoredSecret, secretNames } from "../core/secret_reference.ts";
import { isRemote, type ServerSpec } from "../core/server.ts";
import type { AesBox } from "../storage/sealing.ts";
import { type SecretOutline, SecretsRepository } from "../storage/secrets_repository.ts";
import { ServersRepository } from "../storage/servers_repository.ts";
import type { Store } from "../storage/store.ts";
import type { Redactor } from "../telemetry/redact.ts";
import type { PooledServer } from "./server.ts";
import { TransportClosed } from "./transports/transport.ts";

/** Long enough for the servers of a start to be connected. */
const SEAL_AFTER_MS = 5_000;

export type SecretsModule = ReturnType<typeof buildSecrets>;

/** Secrets that entries refer to, and the box they are sealed in. Without any, costs one read. */
export function buildSecrets({ store, box, logs }: {
  store: Store;
  box: () => Promise<AesBox>;
  logs: { redactor: Pick<Redactor, "learn"> };
}) {
  const keyId = async () => (await box()).keyId;

  const repository = new SecretsRepository(store, box);
  const used = new ServerSecrets({
    repository,
    keyId,
    learn: (values) => logs.redactor.learn(values),
    async openElsewhere(names) {
      const { openElsewhere } = await import("./secret_sources/sources.ts");
      return await openElsewhere(names, {
        env: systemEnv(),
        learn: (values) => logs.redactor.learn(values),
      });
    },
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
          onWarning("Cannot encrypt the secrets in server entries: they stay in plain text", {
            error,
          })
        );
      }, SEAL_AFTER_MS);
      stack.defer(async () => {
        clearTimeout(timer);
        await sealing;
      });
    },
  };
}

interface ServerSecretsOptions {
  repository: Pick<SecretsRepository, "outlines" | "open">;
  keyId(): Promise<string>;
  /** Hears of every value before it is used, so that it is written nowhere. */
  learn(values: string[]): void;
  /** The values of secrets that are kept elsewhere. Loads what it needs: few gateways have any. */
  openElsewhere(names: readonly string[]): Promise<Map<string, string>>;
}

/** Puts secrets into servers' entries when they are started, and only then. */
export class ServerSecrets {
  readonly #options: ServerSecretsOptions;
  #known = new Map<string, SecretOutline>();
  /** What was opened before: a server must come back though the store may be away. */
  readonly #opened = new Map<string, { value: string; versionstamp: string }>();

  constructor(options: ServerSecretsOptions) {
    this.#options = options;
  }

  async prepare(servers: readonly PooledServer[]): Promise<PooledServer[]> {
    const outlines = await this.#options.repository.outlines();
    this.#known = new Map(outlines.map((outline) => [outline.name, outline]));
    for (const [name, { versionstamp }] of this.#opened) {
      if (this.#known.get(name)?.versionstamp !== versionstamp) this.#opened.delete(name);
    }
    return await Promise.all(servers.map((server) => this.#prepared(server)));
  }

  /** An entry with the secrets it refers to. Throws TransportClosed where one is missing. */
  async fill(spec: ServerSpec): Promise<ServerSpec> {
    const names = secretNames(spec);
    if (names.length === 0) return spec;
    const elsewhere = names.filter((name) => !isStoredSecret(name));
    // Asked at every start, so that a value changed there is used; a failed start is repeated.
    const values = elsewhere.length === 0
      ? new Map<string, string>()
      : await this.#options.openElsewhere(elsewhere);
    for (const name of names.filter(isStoredSecret)) values.set(name, await this.#open(name));
    this.#options.learn([...values.values()]);
    const filled = fillSecrets(spec, values);
    checkFilled(spec, filled);
    return filled;
  }

  async #prepared(server: PooledServer): Promise<PooledServer> {
    const names = secretNames(server.spec).filter(isStoredSecret);
    if (names.length === 0) return server;
    const problems = [
      ...(server.problem === undefined ? [] : [server.problem]),
      ...await this.#problemsOf(names),
    ];
    return {
      ...server,
      secretsStamp: names.map((name) => this.#known.get(name)?.versionstamp ?? "").join(" "),
      ...(problems.length === 0 ? {} : { problem: problems.join("; ") }),
    };
  }

  async #problemsOf(names: readonly string[]): Promise<string[]> {
    const missing = names.filter((name) => !this.#known.has(name));
    if (missing.length > 0) return missing.map(isMissing);
    let keyId: string;
    try {
      keyId = await this.#options.keyId();
    } catch (error) {
      if (error instanceof GatewayError) return [error.message];
      throw error;
    }
    return names.filter((name) => this.#known.get(name)?.keyId !== keyId)
      .map((name) => `the secret ${name} was encrypted with a different key: ${howToSet(name)}`);
  }

  async #open(name: string): Promise<string> {
    const opened = this.#opened.get(name);
    // One that was opened while another was set may have come after prepare() had cleared it.
    if (opened && opened.versionstamp === this.#known.get(name)?.versionstamp) return opened.value;
    try {
      const found = await this.#options.repository.open(name);
      if (found === undefined) throw new TransportClosed("refused", isMissing(name));
      this.#opened.set(name, found);
      return found.value;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      throw new TransportClosed("refused", `the secret ${name}: ${error.message}`, {
        cause: error,
      });
    }
  }
}

function isMissing(name: string): string {
  return `the secret ${name} is not set: ${howToSet(name)}`;
}

function howToSet(name: string): string {
  return `set it in the console under Security, or with \`quartermaster secrets set ${name}\``;
}

/** A value must not lead elsewhere, nor into an error that names it. */
function checkFilled(spec: ServerSpec, filled: ServerSpec): void {
  if (!isRemote(spec) || !isRemote(filled)) return;
  const [before, after] = [URL.parse(spec.url), URL.parse(filled.url)];
  if (after === null || before?.origin !== after.origin) {
    throw new TransportClosed("refused", "a secret in its URL changes the host");
  }
  for (const [name, value] of Object.entries(filled.headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      throw new TransportClosed(
        "refused",
        `its header "${name}" cannot be sent: a secret in it contains a line break or characters ` +
          "outside Latin-1",
      );
    }
  }
}

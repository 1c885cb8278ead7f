import { EventEmitter, once } from "node:events";
import { dirname } from "@std/path";
import * as z from "zod";
import type { Platform } from "../config/platform.ts";
import { DEMO_SERVER } from "../config/mcp_file.ts";
import type { ConfigModule } from "../config/module.ts";
import type { OnAudit } from "../core/access.ts";
import { inTurn, within } from "../core/async.ts";
import type { ServersModule } from "../servers/module.ts";
import { followGeneration } from "../storage/follow.ts";
import type { Mailbox } from "../storage/mailbox.ts";
import { type Setting, SettingsRepository } from "../storage/settings_repository.ts";
import type { Store } from "../storage/store.ts";

/** Stored when the user removed the demo server. */
const DEMO_REMOVED: Setting<boolean> = { name: "demoRemoved", schema: z.boolean() };

/** The topic of messages that ask gateways on one store to have applied its changes. */
const TOPIC = "generation";
/** Maximum wait for a gateway that is slow to apply a change. */
const FOLLOW_MS = 3_000;
/** After this long, one that has not answered is asked, and waited for, again. */
const SLOW_MS = 60_000;

export interface DesiredStateInput {
  store: Store;
  mailbox?: Mailbox;
  config: ConfigModule;
  servers: Pick<ServersModule, "pool" | "wanted">;
  /** The store's file, if it is one. */
  path: string | undefined;
  platform: Pick<Platform, "canWrite">;
  signal: AbortSignal;
  /** Built for one command: nothing is followed, and the demo server is of no use to it. */
  isCommand?: boolean;
  /** Loads everything else that the store holds, by what it is called in a warning. */
  loads: Record<string, () => Promise<void>>;
  onAudit: OnAudit;
  onWarning(message: string, details?: object): void;
}

/** Makes the running gateway agree with the config file and the store. */
export class DesiredState {
  readonly #input: DesiredStateInput;
  readonly #settings: SettingsRepository;
  readonly #inTurn = inTurn();
  readonly #applied = new EventEmitter().setMaxListeners(0);
  /** Whose changes are applied here, and at all other gateways. */
  #generation = 0n;
  #common = 0n;
  /** Gateways that did not answer in time, and have not answered since. */
  readonly #slow = new Set<string>();

  constructor(input: DesiredStateInput) {
    this.#input = input;
    this.#settings = new SettingsRepository(input.store);
    const wake = () => void this.#applied.emit("change");
    input.signal.addEventListener("abort", wake);
    input.mailbox?.handle(TOPIC, async (wanted, { signal }) => {
      signal.addEventListener("abort", wake);
      const isOver = () => signal.aborted || input.signal.aborted;
      while (this.#generation < BigInt(wanted) && !isOver()) await once(this.#applied, "change");
      return "";
    });
  }

  /** Serialized: values that were read earlier must not be applied later. */
  sync = (): Promise<void> => this.#inTurn(() => this.#apply());

  setDemoRemoved = async (removed: boolean): Promise<void> => {
    await this.#settings.save(DEMO_REMOVED, removed);
    const action = removed ? "server.remove" : "server.restore";
    this.#input.onAudit({ action, subject: DEMO_SERVER.name });
    await this.sync();
  };

  /**
   * Resolves when the other gateways have applied all changes so far, or after a while: behind a load
   * balancer, the caller's next request may reach another gateway.
   */
  othersFollow = async (): Promise<void> => {
    const { store, mailbox, isCommand, onWarning } = this.#input;
    if (!mailbox || isCommand || store.location.kind === "memory") return;
    try {
      const generation = await store.generation();
      if (generation === this.#common) return;
      const peers = (await mailbox.peers()).filter((peer) => !this.#slow.has(peer));
      await Promise.all(peers.map((peer) => this.#waitFor(mailbox, peer, generation)));
      if (generation > this.#common) this.#common = generation;
    } catch (error) {
      onWarning("Cannot wait for other gateways to apply a change", { error });
    }
  };

  /** One that is slow is not asked again until it has answered or ended. */
  async #waitFor(mailbox: Mailbox, peer: string, generation: bigint): Promise<void> {
    let isOver = false;
    const over = () => {
      isOver = true;
      this.#slow.delete(peer);
    };
    const asked = mailbox.ask(peer, TOPIC, String(generation), { limitMs: SLOW_MS });
    await within(asked.then(over, over), FOLLOW_MS);
    if (!isOver) this.#slow.add(peer);
  }

  /** Follows the store since that generation, and the config file, until the signal aborts. */
  async follow(since: bigint, onConfig: () => void): Promise<void> {
    const { store, config, path, platform, signal, isCommand, mailbox } = this.#input;
    if (isCommand) return;
    this.#generation = since;
    const unwatchable = path === undefined ? undefined : dirname(path);
    await Promise.all([
      followGeneration(store, async (generation) => {
        await this.sync();
        this.#generation = generation;
        this.#applied.emit("change");
      }, { signal, since, mailbox }),
      platform.canWrite
        ? config.follow(() => this.sync().then(onConfig), { signal, unwatchable })
        : undefined,
    ]);
  }

  async #apply(): Promise<void> {
    const { config, servers, isCommand, loads, onWarning } = this.#input;
    const [wanted] = await Promise.all([
      servers.wanted(config.configured),
      ...Object.entries(loads).map(([what, load]) =>
        // Unreadable tokens or toolsets are no reason to stop the servers.
        load().catch((error) =>
          onWarning(`Cannot read ${what}: the previous state stays in use`, { error })
        )
      ),
    ]);
    const isDemoWanted = !isCommand && wanted.length === 0 && config.configured.declared === 0 &&
      !(await this.#settings.find(DEMO_REMOVED))?.value;
    servers.pool.sync(isDemoWanted ? [DEMO_SERVER] : wanted);
    // Nothing tells a command later that tools have become known.
    if (isCommand) await servers.pool.recalled();
  }
}

import { createHash } from "node:crypto";
import * as z from "zod";
import { isBroken, readTool } from "../catalog/catalog_tool.ts";
import { compareTools, ToolDiff } from "../catalog/tool_diff.ts";
import type { AuditActor } from "../core/access.ts";
import { defined } from "../core/defined.ts";
import { errorMessage, GatewayError } from "../core/errors.ts";
import { isProgram } from "../core/server.ts";
import { shortened } from "../core/text.ts";
import { readPackageCommand } from "../servers/packages/package_command.ts";
import { findInstaller } from "../servers/processes/installer.ts";
import type { ServersModule } from "../servers/module.ts";
import type { PooledServer } from "../servers/server.ts";
import type { CanonicalToolsRepository } from "../storage/canonical_tools_repository.ts";
import {
  type PackageOffer,
  type PackagePin,
  PackageVersion,
} from "../storage/packages_repository.ts";
import type { ReviewAdmin } from "../trust/review_admin.ts";
import { tryServer } from "./try_server.ts";

const MAX_DEFINITION = 4_000;

/** A tool that a newer release lists in another way. */
const UpdatedTool = z.object({
  tool: z.string(),
  kind: z.enum(["added", "removed", "changed", "invalid"]),
  diff: ToolDiff.optional(),
  definition: z.string().optional().describe("The new tool's definition, cut if it is long"),
});

export const PackageUpdate = z.object({
  server: z.string(),
  from: z.array(PackageVersion),
  to: z.array(PackageVersion),
  foundAt: z.number().describe("In ms since the epoch"),
  publishedAt: z.number().optional().describe("In ms since the epoch"),
  isTried: z.boolean().describe("Whether it was started once, so that its tools are known"),
  tools: z.array(UpdatedTool).describe("How its tools differ from those that are listed now"),
  fingerprint: z.string().describe("Names exactly this release with exactly these tools"),
});
export type PackageUpdate = z.infer<typeof PackageUpdate>;

export const ServerPackages = z.object({
  server: z.string(),
  installer: z.string(),
  wanted: z.array(z.string()).describe("As the server's entry names them"),
  packages: z.array(PackageVersion).describe("What runs; empty if nothing is pinned"),
  tree: z.string().optional().describe("Hash of the list of all installed packages"),
  pinnedAt: z.number().optional().describe("In ms since the epoch"),
  problem: z.string().optional().describe("Why nothing is pinned"),
  update: PackageUpdate.optional(),
});
export type ServerPackages = z.infer<typeof ServerPackages>;

interface PackagesAdminOptions extends Pick<ServersModule, "packages" | "openTransport" | "pool"> {
  servers(): readonly PooledServer[];
  canonical: Pick<CanonicalToolsRepository, "list">;
  review: Pick<ReviewAdmin, "waiting" | "approve">;
  /** Makes the running servers agree with what is stored. */
  sync(): Promise<void>;
}

/** Which packages servers run, and what a person can do about newer ones. */
export class PackagesAdmin {
  readonly #options: PackagesAdminOptions;

  constructor(options: PackagesAdminOptions) {
    this.#options = options;
  }

  async list(only?: string): Promise<ServerPackages[]> {
    const { servers, pool } = this.#options;
    if (only !== undefined) pool.resolve(only);
    const wanted = servers().filter(({ name }) => only === undefined || name === only);
    const rows = await Promise.all(wanted.map((server) => this.#describe(server)));
    return rows.flatMap((row) => row ?? []).sort((a, b) => a.server < b.server ? -1 : 1);
  }

  async updates(): Promise<PackageUpdate[]> {
    return (await this.list()).flatMap(({ update }) => update ?? []);
  }

  /** Looks for newer releases; a registry that cannot be asked is an error for one server only. */
  async check(only: string | undefined, signal: AbortSignal) {
    const { packages, servers } = this.#options;
    const failed: { server: string; code: string; message: string }[] = [];
    if (only !== undefined) await packages.check(this.#resolve(only), signal);
    else {
      for (const server of servers()) {
        if (!packages.pinOf(server)) continue;
        await packages.check(server, signal).catch((error) => {
          const { code, message } = GatewayError.from(error);
          failed.push({ server: server.name, code, message });
        });
      }
    }
    await packages.load();
    return { updates: await this.updates(), failed };
  }

  /** Starts the newest release once beside the running one, and compares their tools. */
  async try(name: string, signal: AbortSignal): Promise<PackageUpdate> {
    const { packages, openTransport } = this.#options;
    const server = this.#resolve(name);
    const offer = await packages.check(server, signal);
    if (!offer) {
      throw new GatewayError("NOT_FOUND", {
        message: `Server "${name}" already runs the newest release that its entry allows`,
      });
    }
    const release = await packages.install(server, offer, signal);
    const tried = { ...server, release };
    const tools = await tryServer(
      "update",
      name,
      server.spec,
      (...events) => openTransport(tried, ...events),
    );
    const { isRefused: _, ...open } = offer;
    await packages.saveOffer({ ...open, ...release, tools });
    await packages.load();
    return await this.#offered(server);
  }

  /** Runs the release that was tried, on all gateways, and marks its tools as reviewed. */
  async update(name: string, fingerprint: string, by: AuditActor, signal: AbortSignal) {
    const { packages, pool, review, sync } = this.#options;
    const server = this.#resolve(name);
    const offer = await this.#decide(server, fingerprint);
    const { tools } = offer;
    if (tools === undefined) {
      throw new GatewayError("CONFLICT", {
        message: `The update of "${name}" was not tried yet, so nobody has seen its tools`,
        next: [{ label: "Try it", operation: "package.try", input: { name } }],
      });
    }
    await packages.accept(server, offer);
    await sync();
    const running = pool.resolve(name);
    const problem = running.isSwitchedOff
      ? undefined
      : await running.connection(signal).then(() => undefined, errorMessage);
    const seen = new Set(readTools(name, tools).values().map(({ fingerprint }) => fingerprint));
    for (const { tool, fingerprint, state } of review.waiting(name)) {
      if (!seen.has(fingerprint) || (state !== "held" && state !== "notice")) continue;
      await review.approve({ server: name, tool, fingerprint }, by);
    }
    return { packages: (await this.list(name))[0]!, ...defined({ problem }) };
  }

  async refuse(name: string, fingerprint: string): Promise<void> {
    const { packages } = this.#options;
    await packages.refuse(await this.#decide(this.#resolve(name), fingerprint));
    await packages.load();
  }

  async forget(name: string): Promise<void> {
    const { packages } = this.#options;
    this.#resolve(name);
    await packages.forget(name);
    await packages.load();
  }

  lockFile() {
    const { packages, servers } = this.#options;
    return packages.lockFile(servers());
  }

  #resolve(name: string): PooledServer {
    return this.#options.pool.resolve(name).server;
  }

  async #decide(server: PooledServer, fingerprint: string): Promise<PackageOffer> {
    const { packages } = this.#options;
    await packages.load();
    const offer = packages.pinOf(server)?.offer;
    if (!offer) {
      throw new GatewayError("NOT_FOUND", {
        message: `No update of "${server.name}" is waiting for a decision`,
        next: [{ label: "Look for updates", operation: "package.check" }],
      });
    }
    const { fingerprint: current } = await this.#offered(server);
    if (fingerprint === current) return offer;
    throw new GatewayError("CONFLICT", {
      message: `The update of "${server.name}" has changed since you reviewed it`,
      recoverySteps: ["Review it again, then decide"],
    });
  }

  async #offered(server: PooledServer): Promise<PackageUpdate> {
    const { pin, offer } = this.#options.packages.pinOf(server) ?? {};
    if (pin && offer) return await this.#compare(server.name, pin, offer);
    throw new GatewayError("NOT_FOUND", { message: `"${server.name}" has no update` });
  }

  async #describe(server: PooledServer): Promise<ServerPackages | undefined> {
    const { name, spec } = server;
    if (!isProgram(spec)) return undefined;
    const installer = findInstaller([spec.command, ...spec.args]);
    if (!installer || installer.family === "docker") return undefined;
    const common = { server: name, installer: installer.name, wanted: installer.packages };
    const { pin, offer } = this.#options.packages.pinOf(server) ?? {};
    if (!pin) {
      const problem = spec.pin === false
        ? "Its entry has pin: false"
        : !["npx", "uvx"].includes(installer.name)
        ? `Packages of ${installer.name} are not pinned`
        : !readPackageCommand([spec.command, ...spec.args], spec.env)
        ? "Its command line is a shell script, names no package of a registry, or has options that " +
          "can change what is installed"
        : "It has not started since pins exist, or its project or a global install provides the package";
      return { ...common, packages: [], problem };
    }
    const { packages, tree, pinnedAt } = pin;
    const update = offer && await this.#compare(name, pin, offer);
    return { ...common, packages, tree, pinnedAt, ...defined({ update }) };
  }

  async #compare(server: string, pin: PackagePin, offer: PackageOffer): Promise<PackageUpdate> {
    const { packages: to, tree, foundAt, publishedAt } = offer;
    const fresh = readTools(server, offer.tools ?? []);
    const marks = [...fresh.values()].map(({ fingerprint }) => fingerprint).sort();
    return {
      ...{ server, from: pin.packages, to, foundAt, ...defined({ publishedAt }) },
      isTried: offer.tools !== undefined,
      tools: offer.tools === undefined ? [] : await this.#changes(server, fresh),
      fingerprint: createHash("sha256").update(JSON.stringify([to, tree, marks])).digest("hex")
        .slice(0, 16),
    };
  }

  async #changes(server: string, fresh: ReturnType<typeof readTools>) {
    const recorded = await this.#options.canonical.list(server);
    const listed = new Map(
      recorded.filter(({ goneSince }) => goneSince === undefined)
        .map(({ name, current }) => [name, current.text]),
    );
    const changes: z.infer<typeof UpdatedTool>[] = [];
    for (const [tool, { text, isValid }] of fresh) {
      const before = listed.get(tool);
      if (!isValid) changes.push({ tool, kind: "invalid" });
      else if (before === undefined) {
        changes.push({ tool, kind: "added", definition: shortened(text, MAX_DEFINITION) });
      } else if (before !== text) {
        const diff = compareTools(before, text);
        if (diff.changes.length > 0) changes.push({ tool, kind: "changed", diff });
      }
    }
    for (const tool of listed.keys()) if (!fresh.has(tool)) changes.push({ tool, kind: "removed" });
    return changes;
  }
}

function readTools(server: string, texts: readonly string[]) {
  return new Map(texts.map((text) => {
    const tool = readTool(server, text, 0);
    return isBroken(tool)
      ? [tool.name ?? "", { text, fingerprint: "", isValid: false }]
      : [tool.name, { text, fingerprint: tool.fingerprint, isValid: true }];
  }));
}

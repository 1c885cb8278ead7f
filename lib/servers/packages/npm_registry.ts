import * as z from "zod";
import { Buffer } from "node:buffer";
import { GatewayError } from "../../core/errors.ts";
import { parseJson } from "../../core/rpc.ts";
import type { PackageVersion } from "../../storage/packages_repository.ts";
import type { PackageCommand, WantedPackage } from "./package_command.ts";
import { runTool, type ToolPlace } from "./tool_run.ts";

const VIEW_MS = 60_000;
/** Options that tell npm which registry to ask, and how. */
const KEPT_OPTIONS = ["--registry", "--userconfig", "--cache"];

const Released = z.looseObject({
  version: z.string(),
  "dist.integrity": z.string().optional(),
  "dist.shasum": z.string().optional(),
});
const Listing = z.looseObject({
  versions: z.preprocess(
    (value) => typeof value === "string" ? [value] : value,
    z.string().array(),
  ),
  "dist-tags": z.record(z.string(), z.string()).catch({}),
  time: z.record(z.string(), z.string()).catch({}),
});

export interface FoundPackage extends PackageVersion {
  publishedAt?: number;
}

export interface CoolDown {
  ms: number;
  now: number;
}

/** npm of the same installation as the npx in a command line, with the same registry. */
export function npmWords({ installer, words }: PackageCommand): string[] {
  const { program, argument } = installer.at;
  const npm = words[program]!.replace(/npx(?=[^/\\]*$)/, "npm");
  const kept = words.slice(program + 1, argument).flatMap((word, index, all) => {
    const name = KEPT_OPTIONS.find((option) => word === option || word.startsWith(`${option}=`));
    if (name === undefined) return [];
    return word === name ? [word, all[index + 1] ?? ""] : [word];
  });
  return [...words.slice(0, program), npm, ...kept];
}

/** Asks the registry that npm is configured for; npm knows its logins, scopes, and proxies. */
export class NpmRegistryView {
  readonly #command: PackageCommand;
  readonly #place: ToolPlace;

  constructor(command: PackageCommand, place: ToolPlace) {
    this.#command = command;
    this.#place = place;
  }

  /** What the registry publishes under an exact version; undefined if it has no such version. */
  async find(name: string, version: string): Promise<PackageVersion | undefined> {
    const found = (await this.#released(`${name}@${version}`)).find((each) =>
      each.version === version
    );
    return found && { name, version, integrity: integrityOf(found) };
  }

  /** The version that npx would run now; with a cool-down, the newest one that is old enough. */
  async newest(
    { name, spec, isExact }: WantedPackage,
    coolDown: CoolDown,
    current?: string,
  ): Promise<FoundPackage> {
    if (isExact) {
      const found = await this.find(name, spec);
      if (found) return found;
      throw notFound(`${name}@${spec}`);
    }
    const [released, listing] = await Promise.all([
      this.#released(spec === "" ? name : `${name}@${spec}`),
      this.#view(Listing, name, "versions", "dist-tags", "time"),
    ]);
    const { versions, "dist-tags": tags, time } = listing;
    const matching = new Set(released.map(({ version }) => version));
    const tagged = tags[spec === "" ? "latest" : spec];
    const latest = tags.latest;
    const target = tagged ??
      (latest !== undefined && matching.has(latest)
        ? latest
        : versions.findLast((version) => matching.has(version)));
    if (target === undefined) throw notFound(`${name}@${spec}`);
    const version = this.#cooled(target, {
      versions: tagged === undefined ? versions.filter((each) => matching.has(each)) : versions,
      time,
      coolDown,
      current,
      text: `${name}@${spec === "" ? "latest" : spec}`,
    });
    const found = released.find((each) => each.version === version);
    const publishedAt = Date.parse(time[version] ?? "");
    const dated = Number.isNaN(publishedAt) ? {} : { publishedAt };
    if (found) return { name, version, integrity: integrityOf(found), ...dated };
    const other = await this.find(name, version);
    if (other) return { ...other, ...dated };
    throw notFound(`${name}@${version}`);
  }

  #cooled(
    target: string,
    { versions, time, coolDown: { ms, now }, current, text }: {
      versions: readonly string[];
      time: Record<string, string>;
      coolDown: CoolDown;
      current: string | undefined;
      text: string;
    },
  ): string {
    if (ms === 0) return target;
    const isOld = (version: string) => now - Date.parse(time[version] ?? "") >= ms;
    const isFinal = (version: string) => target.includes("-") || !version.includes("-");
    const upTo = versions.slice(0, versions.indexOf(target) + 1);
    const version = upTo.findLast((each) => isOld(each) && (each === target || isFinal(each)));
    const isBehind = current !== undefined && upTo.includes(current) &&
      upTo.indexOf(current) > upTo.indexOf(version ?? "");
    if (isBehind) return current;
    if (version !== undefined) return version;
    throw new GatewayError("NOT_FOUND", {
      message: `No release of ${text} is at least ${ms / 86_400_000} days old`,
      recoverySteps: ["Start the gateway with a lower --package-cooldown", "Or name a version"],
    });
  }

  async #released(spec: string) {
    const fields = ["version", "dist.integrity", "dist.shasum"];
    return await this.#view(
      z.preprocess((value) => Array.isArray(value) ? value : [value], Released.array()),
      spec,
      ...fields,
    );
  }

  async #view<T>(schema: z.ZodType<T>, ...args: string[]): Promise<T> {
    const words = [...npmWords(this.#command), "view", ...args, "--json"];
    const written = await runTool({ ...this.#place, words, limitMs: VIEW_MS });
    const { data } = schema.safeParse(parseJson(written));
    if (data !== undefined) return data;
    throw notFound(args[0]!);
  }
}

function integrityOf(found: z.infer<typeof Released>): string {
  const { "dist.integrity": integrity, "dist.shasum": shasum } = found;
  if (integrity !== undefined) return integrity;
  return shasum === undefined ? "" : `sha1-${Buffer.from(shasum, "hex").toString("base64")}`;
}

function notFound(text: string): GatewayError {
  return new GatewayError("NOT_FOUND", { message: `The registry has no package ${text}` });
}

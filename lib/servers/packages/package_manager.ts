import { GatewayError } from "../../core/errors.ts";
import { PACKAGE_CHANGED } from "../../core/failure_cause.ts";
import type { PackageRelease, PackageVersion } from "../../storage/packages_repository.ts";
import type { CoolDown, FoundPackage } from "./npm_registry.ts";

/** What npx and uvx have in common, for one command line. */
export interface PackageManager {
  /**
   * What would run now if nothing were pinned; a cool-down never leads back behind `current`. Throws
   * if the registry cannot be asked.
   */
  newest(coolDown: CoolDown, current?: readonly PackageVersion[]): Promise<FoundPackage[]>;
  /** What has run so far without a pin. */
  cached(): Promise<PackageVersion[] | undefined>;
  /** Throws PACKAGE_CHANGED if the registry now has other archives under the same versions. */
  checkPublished(release: PackageRelease): Promise<void>;
  /**
   * Installs a release unless it is installed, and compares what is there; throws PACKAGE_CHANGED if
   * that is something else. Takes the pinned tree and returns it, or the one that npm made.
   */
  install(release: PackageRelease, tree: string | undefined): Promise<string>;
  treeHash(tree: string): string;
  /** The command line that runs exactly this release. */
  runWords(release: PackageRelease): string[];
  /** Whether another copy runs instead, which the user's own project provides. */
  isProvided(release?: PackageRelease): Promise<boolean>;
}

const RECOVERY = [
  "Do not run it until you know why: ask its author whether the release was replaced",
  "To trust what is there now, run `quartermaster package forget NAME`, then restart the server",
];

/** The same version with another archive: what a hijacked registry or account would serve. */
export function otherArchive({ name, version, integrity }: PackageVersion, found: string) {
  return new GatewayError("PACKAGE_CHANGED", {
    message: `${name} ${version} ${PACKAGE_CHANGED}: its hash is ${found || "missing"}, ` +
      `pinned is ${integrity || "none"}`,
    recoverySteps: RECOVERY,
  });
}

/** The package itself is the pinned one, but something that it depends on is not. */
export function differentTree({ packages }: PackageRelease, difference: string) {
  const names = packages.map(({ name, version }) => `${name} ${version}`).join(", ");
  return new GatewayError("PACKAGE_CHANGED", {
    message: `${names} ${PACKAGE_CHANGED}: ${difference}`,
    recoverySteps: [
      "Run `quartermaster server repair NAME` to install the pinned packages again",
      ...RECOVERY,
    ],
  });
}

import { GatewayError } from "../../core/errors.ts";
import { PACKAGE_CHANGED } from "../../core/failure_cause.ts";
import type { PackageRelease, PackageVersion } from "../../storage/packages_repository.ts";

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

import * as z from "zod";
import { collection } from "./collection.ts";
import { keys } from "./keys.ts";

/** One package as a registry publishes it. */
export const PackageVersion = z.strictObject({
  name: z.string(),
  version: z.string(),
  /** The hash of its archive: `sha512-...` from npm, the hashes of all files from a Python index. */
  integrity: z.string(),
});
export type PackageVersion = z.infer<typeof PackageVersion>;

/** What runs when a server starts: the packages that its entry names, and everything they need. */
export const PackageRelease = z.strictObject({
  packages: z.array(PackageVersion).min(1),
  /** The hash of the tree of all installed packages; empty if only versions are pinned. */
  tree: z.string(),
});
export type PackageRelease = z.infer<typeof PackageRelease>;

export const PackagePin = PackageRelease.extend({
  server: z.string(),
  /** A hash of the packages as the entry names them, and of where they come from. */
  request: z.string(),
  /** The packages as the entry names them. */
  wanted: z.array(z.string()),
  installer: z.string(),
  pinnedAt: z.number(),
  /** When somebody accepted an update; the server restarts when it changes. */
  updatedAt: z.number().optional(),
  /** When newer releases were last looked for. */
  checkedAt: z.number(),
});
export type PackagePin = z.infer<typeof PackagePin>;

/** A newer release, with the tools it listed when it was tried. */
export const PackageOffer = PackageRelease.extend({
  server: z.string(),
  request: z.string(),
  foundAt: z.number(),
  publishedAt: z.number().optional(),
  /** Definitions as they came; missing until it was tried. */
  tools: z.array(z.string()).optional(),
  isRefused: z.boolean().optional(),
});
export type PackageOffer = z.infer<typeof PackageOffer>;

/** A package-lock.json, by its hash. */
const PackageTree = z.strictObject({
  hash: z.string(),
  text: z.string(),
  savedAt: z.number(),
});

export class PackagePinsRepository extends collection({
  noun: "package pin",
  key: keys.packagePins,
  schema: PackagePin,
  idOf: ({ server, request }): string[] => [server, request],
}) {}

export class PackageOffersRepository extends collection({
  noun: "package update",
  key: keys.packageOffers,
  schema: PackageOffer,
  idOf: ({ server, request }): string[] => [server, request],
}) {}

export class PackageTreesRepository extends collection({
  noun: "package tree",
  key: keys.packageTrees,
  schema: PackageTree,
  idOf: ({ hash }) => hash,
  announce: false,
}) {}

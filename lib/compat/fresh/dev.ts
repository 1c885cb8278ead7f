export { Builder, type BuildOptions, type ResolvedBuildConfig } from "./builder.ts";

export { Builder, type BuildOptions } from "./builder.ts";

export { type Parameter, type Parameters, parametersOf } from "../core/parameters.ts";

import { Grants, WHOLE_SCOPE } from "../../auth/grants.ts";
import type { OperationCall } from "../operation.ts";
import type { Services } from "../services.ts";

/** A caller whose token neither ends nor is limited. */
export const NOTHING = {
  endOf: () => undefined,
  limitOf: () => undefined,
  nameOf: (name: string) => name,
};

const grants = new Grants(WHOLE_SCOPE, undefined);
/** The access of an owner. */
export const OWNER_ACCESS = { grants: () => grants, demand: () => {}, ...NOTHING };

/** Services of an owner; a test gives those that its operations use. */
export function servicesOf<T extends object>(services: T): T & Services {
  return { access: OWNER_ACCESS, ...services } as unknown as T & Services;
}

export function callBy(principal: string, call: Partial<OperationCall> = {}): OperationCall {
  return {
    principal,
    via: "api",
    isLocal: true,
    from: () => "a test",
    signal: new AbortController().signal,
    progress: () => {},
    ...call,
  };
}

import { AsyncLocalStorage } from "node:async_hooks";

/** Who does something, and from where. */
export interface AuditOrigin {
  principal: string;
  /** Made when it is asked for: few requests leave an entry. */
  from(): string;
}

/**
 * Goes with the request, not through the arguments of everything that can be decided: one place for
 * each way in sets it, and what is decided is noted where it happens, whichever way it was asked for.
 */
const origins = new AsyncLocalStorage<AuditOrigin>();

export function actingFor<T>(origin: AuditOrigin, work: () => T): T {
  return origins.run(origin, work);
}

export function currentOrigin(): AuditOrigin | undefined {
  return origins.getStore();
}

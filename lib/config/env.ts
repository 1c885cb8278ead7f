/** Where variables come from; tests hand in their own. */
export interface Env {
  get(name: string): string | undefined;
  /** All of them, for what is started with them. */
  toObject?(): Record<string, string>;
}

/** The variables of this process. */
export function systemEnv(): Env {
  return { get: (name) => Deno.env.get(name), toObject: () => Deno.env.toObject() };
}

/** A variable that is set to something; an empty one counts as not set. */
export function nonEmpty(env: Env, name: string): string | undefined {
  return env.get(name) || undefined;
}

/** Where variables come from; tests hand in their own. */
export interface Env {
  get(name: string): string | undefined;
}

/** The variables of this process. */
export function systemEnv(): Env {
  return { get: (name) => Deno.env.get(name) };
}

/** A variable that is set to something; an empty one counts as not set. */
export function nonEmpty(env: Env, name: string): string | undefined {
  return env.get(name) || undefined;
}

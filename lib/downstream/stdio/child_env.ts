import { isInherited } from "./process_group.ts";

/** A program's whole environment: what any program needs, what its entry declares, our marker. */
export function childEnv({ baseEnv, declared, markerEnv }: {
  baseEnv: Record<string, string>;
  declared: Record<string, string>;
  markerEnv: Record<string, string>;
}): Record<string, string> {
  const inherited = Object.entries(baseEnv).filter(([name]) => isInherited(name));
  return { ...Object.fromEntries(inherited), ...declared, ...markerEnv };
}

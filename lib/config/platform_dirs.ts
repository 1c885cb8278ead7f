import { posix, win32 } from "node:path";
import { type Env, nonEmpty } from "./env.ts";

const APP = "quartermaster";

/** The user's folders; each is undefined where the environment does not tell. */
export interface PlatformDirs {
  home: string | undefined;
  /** Holds `settings.json` and the user's `mcp.json`. */
  config: string | undefined;
  /** Holds the data store and the logs. */
  data: string | undefined;
}

/** Where this system keeps a user's settings and data. */
export function platformDirs(os: typeof Deno.build.os, env: Env): PlatformDirs {
  if (os === "windows") {
    const home = nonEmpty(env, "USERPROFILE");
    const roaming = nonEmpty(env, "APPDATA") ?? join(win32, home, "AppData", "Roaming");
    const local = nonEmpty(env, "LOCALAPPDATA") ?? join(win32, home, "AppData", "Local");
    return { home, config: join(win32, roaming, APP), data: join(win32, local, APP) };
  }
  const home = nonEmpty(env, "HOME");
  if (os === "darwin") {
    const folder = join(posix, home, "Library", "Application Support", APP);
    return { home, config: folder, data: folder };
  }
  const config = absolute(env, "XDG_CONFIG_HOME") ?? join(posix, home, ".config");
  const data = absolute(env, "XDG_DATA_HOME") ?? join(posix, home, ".local", "share");
  return { home, config: join(posix, config, APP), data: join(posix, data, APP) };
}

function join(
  path: { join(...parts: string[]): string },
  base: string | undefined,
  ...parts: string[]
): string | undefined {
  return base === undefined ? undefined : path.join(base, ...parts);
}

// The XDG specification has relative folders ignored.
function absolute(env: Env, name: string): string | undefined {
  const value = nonEmpty(env, name);
  return value !== undefined && posix.isAbsolute(value) ? value : undefined;
}

import { delimiter, join, resolve } from "node:path";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import * as z from "zod";

/** What any program needs, how the API is reached, and who pays. */
const PASSED = [
  ...["PATH", "LANG", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT"],
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  ...["ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"],
  ...["CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL"],
  ...["CLAUDE_CODE_USE_VERTEX", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID"],
  ...["CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"],
  ...["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"],
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
];
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|HEADERS/;
const LOOPBACK = "127.0.0.1,localhost,::1";

const FIXED = {
  DISABLE_TELEMETRY: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_ERROR_REPORTING: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  // Else `@/some/file` in a prompt gives the model that file of this machine.
  CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
  // By default it goes on for minutes, and what was wrong would look like a time-out.
  CLAUDE_CODE_MAX_RETRIES: "1",
};

interface RunPaths {
  home: string;
  work: string;
  temp: string;
}

export function foldersIn(folder: string): RunPaths {
  return { home: join(folder, "home"), work: join(folder, "work"), temp: join(folder, "tmp") };
}

export function claudeEnv(
  env: Readonly<Record<string, string>>,
  { home, temp }: RunPaths,
): Record<string, string> {
  const isWindows = Deno.build.os === "windows";
  const passed = Object.entries(env).filter(([name]) =>
    name.startsWith("AWS_") || PASSED.includes(isWindows ? name.toUpperCase() : name)
  );
  const noProxy = [env.NO_PROXY ?? env.no_proxy, LOOPBACK].filter(Boolean).join(",");
  return {
    ...Object.fromEntries(passed),
    // The tools under trial are on this machine: a proxy would not find them.
    NO_PROXY: noProxy,
    no_proxy: noProxy,
    ...FIXED,
    HOME: home,
    TMPDIR: temp,
    ...isWindows
      ? { USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home, TEMP: temp, TMP: temp }
      : {},
  };
}

/** What of an environment that can only be asked by name the CLI could be given. */
export function passedVariables(get: (name: string) => string | undefined): Record<string, string> {
  return Object.fromEntries(PASSED.flatMap((name) => {
    const value = get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

export function secretsIn(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).filter(([name]) => SECRET.test(name)).map(([, value]) => value);
}

// It is in a path that the model is told: it must not say anything.
const PREFIX = "run_";
const OWNER_FILE = "owner.json";

/** Whose folder it is. `place` names the store that knows the lease, and no other. */
const Owner = z.strictObject({ place: z.string(), lease: z.string() });

export type RunFolders = ReturnType<typeof runFolders>;

/** A folder for each run, which says whose it is: so those that a killed gateway left are found. */
export function runFolders(
  { store, leaseId, root = tmpdir() }: { store: string; leaseId: string; root?: string },
) {
  const place = createHash("sha256").update(store).digest("hex").slice(0, 16);
  return {
    async make(): Promise<string> {
      const folder = await Deno.makeTempDir({ dir: root, prefix: PREFIX });
      const owner: z.infer<typeof Owner> = { place, lease: leaseId };
      const path = join(folder, OWNER_FILE);
      await Deno.writeTextFile(path, JSON.stringify(owner), { mode: 0o600, createNew: true });
      return folder;
    },

    async sweep(isLeaseAlive: (id: string) => Promise<boolean>): Promise<number> {
      let removed = 0;
      for await (const { name, isDirectory } of Deno.readDir(root)) {
        if (!isDirectory || !name.startsWith(PREFIX)) continue;
        const folder = join(root, name);
        const owner = await ownerOf(folder);
        // A gateway with another store may be alive for all that this one knows.
        if (owner?.place !== place || await isLeaseAlive(owner.lease)) continue;
        await Deno.remove(folder, { recursive: true });
        removed++;
      }
      return removed;
    },
  };
}

/** Undefined where it does not say so, or is another user's or just gone. */
async function ownerOf(folder: string): Promise<z.infer<typeof Owner> | undefined> {
  try {
    return Owner.parse(JSON.parse(await Deno.readTextFile(join(folder, OWNER_FILE))));
  } catch {
    return undefined;
  }
}

export async function findProgram(
  command: string,
  { PATH = "", PATHEXT }: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const isPath = /[/\\]/.test(command);
  const places = isPath
    ? [resolve(command)]
    : PATH.split(delimiter).filter((folder) => folder !== "").map((folder) =>
      join(folder, command)
    );
  const ends = Deno.build.os === "windows"
    ? ["", ...(PATHEXT ?? ".EXE;.CMD;.BAT").split(";")]
    : [""];
  for (const file of places.flatMap((place) => ends.map((end) => place + end))) {
    const info = await Deno.stat(file).catch(() => undefined);
    if (info?.isFile && (info.mode === null || (info.mode & 0o111) !== 0)) return file;
  }
}

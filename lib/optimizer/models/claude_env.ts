import { join } from "@std/path";

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
  // Else descriptions may be hidden behind the CLI's own search.
  ENABLE_TOOL_SEARCH: "false",
  // By default it goes on for minutes, and what was wrong would look like a time-out.
  CLAUDE_CODE_MAX_RETRIES: "1",
};

/** Where one run may write; all of it is thrown away. */
export interface RunFolders {
  home: string;
  work: string;
  temp: string;
}

export function foldersIn(folder: string): RunFolders {
  return { home: join(folder, "home"), work: join(folder, "work"), temp: join(folder, "tmp") };
}

/** The CLI's whole environment: of the gateway's own only what it cannot do without. */
export function claudeEnv(
  env: Readonly<Record<string, string>>,
  { home, temp }: RunFolders,
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

/** The values in an environment that nobody may read in a message. */
export function secretsIn(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).filter(([name]) => SECRET.test(name)).map(([, value]) => value);
}

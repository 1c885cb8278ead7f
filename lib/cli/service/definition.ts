export interface ServiceDefinition {
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  workingDirectory: string;
  /** Holds secrets such as QUARTERMASTER_ADMIN_TOKEN, which a definition must not. */
  envFile: string;
  /** Where output goes on systems without a journal. */
  logFile: string;
}

/** The gateway's name in each service manager. */
export const SERVICE = "quartermaster";

/** Marks a definition as ours; a file without it is never replaced or removed. */
const MARK = "Written by `quartermaster service install`; run it again to update.";

/** The data folder in a definition that we wrote; undefined for any other file. */
export function dataFolderOf(definition: string): string | undefined {
  const at = definition.indexOf(MARK);
  const [, folder] = /^ Data: (".*?(?<!\\)(?:\\\\)*")/.exec(definition.slice(at + MARK.length)) ??
    [];
  return at < 0 || folder === undefined ? undefined : JSON.parse(folder);
}

/** Two dashes would end an XML comment. */
function mark({ workingDirectory }: ServiceDefinition): string {
  return `${MARK} Data: ${JSON.stringify(workingDirectory).replaceAll("--", "\\u002d\\u002d")}`;
}

const DESCRIPTION = "Quartermaster, an MCP gateway";

export function systemdUnit(definition: ServiceDefinition): string {
  const { command: [program = "", ...args], env, workingDirectory, envFile } = definition;
  return [
    `# ${mark(definition)}`,
    "[Unit]",
    `Description=${DESCRIPTION}`,
    "",
    "[Service]",
    "Type=exec",
    `ExecStart=${[quotedWord(program), ...args.map(argumentWord)].join(" ")}`,
    `WorkingDirectory=${specifierSafe(workingDirectory)}`,
    ...Object.entries(env).map(([name, value]) => `Environment=${quotedWord(`${name}=${value}`)}`),
    `EnvironmentFile=-${specifierSafe(envFile)}`,
    "Restart=on-failure",
    "RestartSec=5",
    "# 2: an option, a file or the port cannot be used. A restart would not help.",
    "RestartPreventExitStatus=2",
    "# The launcher forwards the signal; a second one would cut the stop short.",
    "KillMode=mixed",
    "TimeoutStopSec=15",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

/** A launch agent for macOS. Not tried on a Mac. */
export function launchdPlist(definition: ServiceDefinition): string {
  const { command, env, workingDirectory, logFile } = definition;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${mark(definition)} -->
<plist version="1.0">
${
    plistValue({
      Label: SERVICE,
      ProgramArguments: command,
      EnvironmentVariables: env,
      WorkingDirectory: workingDirectory,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 10,
      StandardOutPath: logFile,
      StandardErrorPath: logFile,
    })
  }
</plist>
`;
}

function plistValue(value: unknown): string {
  if (typeof value === "string") return `<string>${xmlText(value)}</string>`;
  if (typeof value === "number") return `<integer>${value}</integer>`;
  if (typeof value === "boolean") return `<${value}/>`;
  if (Array.isArray(value)) return `<array>\n${value.map(plistValue).join("\n")}\n</array>`;
  const members = Object.entries(value as object).map(([key, member]) =>
    `<key>${xmlText(key)}</key>\n${plistValue(member)}\n`
  );
  return `<dict>\n${members.join("")}</dict>`;
}

/** A task for the Windows Task Scheduler, started at logon. Not tried on Windows. */
export function windowsTask(definition: ServiceDefinition): string {
  const { command: [program = "", ...args], workingDirectory } = definition;
  return `<?xml version="1.0" encoding="UTF-16"?>
<!-- ${mark(definition)} -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>${DESCRIPTION}</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>${xmlText(program)}</Command>
      <Arguments>${xmlText(args.map(windowsWord).join(" "))}</Arguments>
      <WorkingDirectory>${xmlText(workingDirectory)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`.replaceAll("\n", "\r\n");
}

/** systemd reads `%h` as a specifier anywhere. */
function specifierSafe(text: string): string {
  return text.replaceAll("%", "%%");
}

function quotedWord(text: string): string {
  return `"${specifierSafe(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** In arguments, but not in the program's path, systemd also replaces `$NAME`. */
function argumentWord(text: string): string {
  return quotedWord(text).replaceAll("$", "$$$$");
}

function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Quoted as Windows programs parse command lines: backslashes matter only before a quote. */
function windowsWord(text: string): string {
  if (text !== "" && !/[\s"]/.test(text)) return text;
  return `"${text.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}

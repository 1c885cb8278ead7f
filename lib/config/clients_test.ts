import assert from "node:assert/strict";
import { clientConfigFiles } from "./clients.ts";

function places(os: typeof Deno.build.os, variables: Record<string, string>, cwd: string) {
  const files = clientConfigFiles({ os, env: { get: (name) => variables[name] }, cwd });
  return Object.fromEntries(files.map(({ client, scope, path }) => [`${client} ${scope}`, path]));
}

Deno.test("clientConfigFiles() knows where each system's clients keep their servers", () => {
  assert.deepEqual(places("linux", { HOME: "/home/ann" }, "/project"), {
    "claude-code user": "/home/ann/.claude.json",
    "claude-code project": "/project/.mcp.json",
    "claude-desktop user": "/home/ann/.config/Claude/claude_desktop_config.json",
    "cursor user": "/home/ann/.cursor/mcp.json",
    "cursor project": "/project/.cursor/mcp.json",
    "vscode user": "/home/ann/.config/Code/User/mcp.json",
    "vscode project": "/project/.vscode/mcp.json",
    "windsurf user": "/home/ann/.codeium/windsurf/mcp_config.json",
    "zed user": "/home/ann/.config/zed/settings.json",
    "zed project": "/project/.zed/settings.json",
    "codex user": "/home/ann/.codex/config.toml",
    "codex project": "/project/.codex/config.toml",
    "gemini-cli user": "/home/ann/.gemini/settings.json",
    "gemini-cli project": "/project/.gemini/settings.json",
    "opencode user": "/home/ann/.config/opencode/opencode.json",
    "opencode project": "/project/opencode.json",
    "goose user": "/home/ann/.config/goose/config.yaml",
    "lm-studio user": "/home/ann/.lmstudio/mcp.json",
  });
  const mac = places("darwin", { HOME: "/Users/ann" }, "/project");
  assert.equal(
    mac["claude-desktop user"],
    "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json",
  );
  assert.equal(
    mac["vscode user"],
    "/Users/ann/Library/Application Support/Code/User/mcp.json",
  );
  assert.equal(mac["zed user"], "/Users/ann/.config/zed/settings.json");
  assert.equal(mac["goose user"], "/Users/ann/.config/goose/config.yaml");
  const windows = places("windows", { USERPROFILE: "C:\\Users\\ann" }, "C:\\work");
  assert.equal(windows["cursor user"], "C:\\Users\\ann\\.cursor\\mcp.json");
  assert.equal(
    windows["claude-desktop user"],
    "C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
  );
  assert.equal(windows["claude-code project"], "C:\\work\\.mcp.json");
  assert.equal(windows["zed user"], "C:\\Users\\ann\\AppData\\Roaming\\Zed\\settings.json");
  assert.equal(
    windows["goose user"],
    "C:\\Users\\ann\\AppData\\Roaming\\Block\\goose\\config\\config.yaml",
  );
});

Deno.test("clientConfigFiles() follows the variables that move a client's folder", () => {
  const moved = places(
    "linux",
    { HOME: "/home/ann", XDG_CONFIG_HOME: "/xdg", CLAUDE_CONFIG_DIR: "/claude" },
    "/project",
  );
  assert.equal(moved["claude-code user"], "/claude/.claude.json");
  assert.equal(moved["vscode user"], "/xdg/Code/User/mcp.json");
  assert.equal(
    places("windows", { APPDATA: "D:\\roaming" }, "C:\\work")["vscode user"],
    "D:\\roaming\\Code\\User\\mcp.json",
  );
});

Deno.test("clientConfigFiles() leaves out the user's files where no home is known", () => {
  assert.deepEqual(Object.keys(places("linux", {}, "/project")), [
    "claude-code project",
    "cursor project",
    "vscode project",
    "zed project",
    "codex project",
    "gemini-cli project",
    "opencode project",
  ]);
});

import assert from "node:assert/strict";
import { claudeEnv, foldersIn, passedVariables, secretsIn } from "./claude_environment.ts";

const folders = foldersIn("/run_1");

Deno.test("claudeEnv() passes credentials and proxies on, and nothing else of the gateway's", () => {
  const env = claudeEnv({
    PATH: "/bin",
    HOME: "/home/ann",
    TMPDIR: "/home/ann/tmp",
    LANG: "C.UTF-8",
    GITHUB_TOKEN: "of somebody else",
    CLAUDE_CODE_USE_BEDROCK: "1",
    AWS_REGION: "eu-north-1",
    ANTHROPIC_API_KEY: "key",
    HTTPS_PROXY: "http://proxy:3128",
    CLAUDE_CONFIG_DIR: "/home/ann/.claude",
    ANTHROPIC_MODEL: "another",
  }, folders);
  const passed = { ...env };
  for (const name of Object.keys(env)) {
    if (/^(DISABLE_|CLAUDE_CODE_(DISABLE|MAX)_|ENABLE_)/.test(name)) delete passed[name];
  }
  assert.deepEqual(passed, {
    PATH: "/bin",
    HOME: "/run_1/home",
    TMPDIR: "/run_1/tmp",
    LANG: "C.UTF-8",
    CLAUDE_CODE_USE_BEDROCK: "1",
    AWS_REGION: "eu-north-1",
    ANTHROPIC_API_KEY: "key",
    HTTPS_PROXY: "http://proxy:3128",
    NO_PROXY: "127.0.0.1,localhost,::1",
    no_proxy: "127.0.0.1,localhost,::1",
  });
});

Deno.test("claudeEnv() keeps the CLI from phoning home and from reading files into prompts", () => {
  const env = claudeEnv({ CLAUDE_CODE_DISABLE_ATTACHMENTS: "0" }, folders);
  for (
    const name of [
      "DISABLE_TELEMETRY",
      "DISABLE_AUTOUPDATER",
      "DISABLE_ERROR_REPORTING",
      "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
      "CLAUDE_CODE_DISABLE_ATTACHMENTS",
    ]
  ) assert.equal(env[name], "1", name);
});

Deno.test("claudeEnv() adds this machine to what no proxy is asked for", () => {
  const env = claudeEnv({ NO_PROXY: "example.com" }, folders);
  assert.equal(env.NO_PROXY, "example.com,127.0.0.1,localhost,::1");
});

Deno.test("secretsIn() finds what is a secret by its name", () => {
  const secrets = secretsIn({
    PATH: "/bin",
    AWS_REGION: "eu-north-1",
    AWS_SECRET_ACCESS_KEY: "one",
    ANTHROPIC_AUTH_TOKEN: "two",
    ANTHROPIC_CUSTOM_HEADERS: "three",
  });
  assert.deepEqual(secrets, ["one", "two", "three"]);
});

Deno.test("passedVariables() asks for what the CLI needs, by name", () => {
  const all: Record<string, string> = { PATH: "/bin", ANTHROPIC_API_KEY: "key", OTHER: "x" };
  assert.deepEqual(passedVariables((name) => all[name]), {
    PATH: "/bin",
    ANTHROPIC_API_KEY: "key",
  });
});

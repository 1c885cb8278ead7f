import assert from "node:assert/strict";
import { pinnedWords, readPackageCommand } from "./package_command.ts";

function pinned(line: string, ...versions: string[]): string | undefined {
  const command = readPackageCommand(line.split(" "), {});
  if (!command) return undefined;
  const packages = command.wanted.map(({ name }, nth) => ({
    name,
    version: versions[nth] ?? "1.2.3",
    integrity: "",
  }));
  const { options, separator, exact, rest, isNamedByOption } = pinnedWords(command, packages);
  return [...options, ...separator, ...isNamedByOption ? [] : exact, ...rest].join(" ");
}

Deno.test("pinnedWords() puts exact versions where an entry names packages, and nowhere else", () => {
  const expected: [line: string, pinned: string][] = [
    ["npx -y @scope/name /tmp name", "npx -y @scope/name@1.2.3 /tmp name"],
    ["npx name@latest name@latest", "npx name@1.2.3 name@latest"],
    ["npx -p name name --flag", "npx -p name@1.2.3 name --flag"],
    ["npx --package=name@^1 -- name", "npx --package=name@1.2.3 -- name"],
    ["npx -p one -p two@~2 tool one", "npx -p one@1.2.3 -p two@1.2.3 tool one"],
    ["npm exec --registry one -- one a", "npm exec --registry one -- one@1.2.3 a"],
    ["env A=1 /usr/bin/npx name", "env A=1 /usr/bin/npx name@1.2.3"],
    ["cmd /c npx.cmd -y name", "cmd /c npx.cmd -y name@1.2.3"],
    ["uvx name --port 1", "uvx name==1.2.3 --port 1"],
    ["uvx name@latest", "uvx name==1.2.3"],
    ["uvx --from name[cli]>=1 tool", "uvx --from name[cli]==1.2.3 tool"],
    ["uv tool run name", "uv tool run name==1.2.3"],
    ["uvx --link-mode copy -q name", "uvx --link-mode copy -q name==1.2.3"],
    ["npm exec -y name a -- --flag", "npm exec -y name@1.2.3 a -- --flag"],
  ];
  for (const [line, wanted] of expected) assert.equal(pinned(line), wanted, line);
});

Deno.test("readPackageCommand() leaves alone what does not come from a registry", () => {
  for (
    const line of [
      "npx ./local",
      "npx github:owner/name",
      "npx owner/name",
      "npx https://example.com/a.tgz",
      "npx name@npm:other@1",
      "npx name@git+https://example.com/a.git",
      "uvx git+https://example.com/a",
      "uvx --from ./folder tool",
      "uv run name",
      "bunx name",
      "node server.js",
      "docker run image",
    ]
  ) assert.equal(pinned(line), undefined, line);
  assert.equal(readPackageCommand(["sh", "-c", "npx -y name"], {}), undefined);
});

Deno.test("readPackageCommand() leaves alone what an option could change", () => {
  for (
    const line of [
      "npx --tag next name",
      "npx --unknown value name",
      "npx --unknown=value name",
      "npx --prefix /folder name",
      "npx -w folder name",
      "npx --no-install name",
      "npx --yes=false name",
      "npm exec -p other name",
      "npm exec name --package=other",
      "uvx --with pydantic<2 name",
      "uvx --constraints file name",
      "uvx --prerelease allow name",
      "uvx --exclude-newer 2026-01-01 name",
      "uvx --index-strategy unsafe-best-match name",
      "uvx --offline name",
      "uvx -p3.12 name",
      "uvx python -m name",
      "uvx python@3.12",
    ]
  ) assert.equal(pinned(line), undefined, line);
});

Deno.test("readPackageCommand() tells entries apart by what they name and where that comes from", () => {
  const request = (line: string, env = {}) => readPackageCommand(line.split(" "), env)?.request;
  assert.equal(request("npx -y name"), request("npx name --other"));
  assert.notEqual(request("npx name"), request("npx name@latest"));
  assert.notEqual(request("npx name"), request("npx name", { npm_config_registry: "http://a" }));
  assert.equal(request("npx name"), request("npx name", { TOKEN: "x" }));
  const { wanted } = readPackageCommand(["npx", "@a/b@1.2.3-rc.1"], {})!;
  assert.deepEqual(wanted, [
    { text: "@a/b@1.2.3-rc.1", name: "@a/b", spec: "1.2.3-rc.1", isExact: true },
  ]);
});

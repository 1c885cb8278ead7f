import assert from "node:assert/strict";
import { ProgramServer } from "../../core/server.ts";
import { deployedProgram, deployRefusal } from "./deployed.ts";

const FILE = { kind: "file", path: "/app/.mcp.json" } as const;

function entry(line: string, isolation?: object) {
  const [command, ...args] = line.split(" ");
  return ProgramServer.parse({ type: "stdio", command, args, isolation });
}

const RUNS: Record<string, string> = {
  "npx -y @scope/name@1.2.3 --flag": "npx -y @scope/name@1.2.3 --flag",
  "npx --package=name bin arg": "npx --package=name bin arg",
  "npm exec --yes -- name": "npm exec --yes -- name",
  "deno run -A npm:@scope/name@1 arg": "npx -y @scope/name@1 arg",
  "deno run npm:/name/bin": "npx -y --package=name bin",
};
for (const [line, wanted] of Object.entries(RUNS)) {
  Deno.test(`on Deno Deploy, ${line} runs isolated`, () => {
    const spec = entry(line, { kind: "sandbox", net: ["api.example.com"] });
    assert.equal(deployRefusal({ spec, source: FILE }), undefined);
    const baseEnv = { HOME: "/home/nobody" };
    const { command, args, isolation, ...program } = deployedProgram({ ...spec, baseEnv });
    assert.equal([command, ...args].join(" "), wanted);
    assert.deepEqual(isolation, { kind: "sandbox", net: ["api.example.com"] });
    assert.notEqual(program.baseEnv.HOME, baseEnv.HOME);
    const { isolation: own } = deployedProgram({ ...entry(line), baseEnv });
    assert.deepEqual(own, { kind: "sandbox" });
  });
}

const REFUSED: [line: string, reason: RegExp, isolation?: object][] = [
  ["uvx name", /^Deno Deploy has no uvx, only npm packages: .*"npx"/],
  ["/usr/bin/docker run image", /^Deno Deploy has no docker, /],
  ["deno run -A /app/server.ts", /^Deno Deploy has no deno, only npm packages/],
  ["npx -y --registry=https://a.example name", /the option --registry=/],
  ["npx -c name", /the option -c|only npm packages/],
  ["npx -y git+https://a.example/b", /one package from the npm registry/],
  // Whoever sets the secret would choose what runs.
  ["npx -y ${secret:NAME}", /one package from the npm registry/],
  ["npx -y name@${secret:VERSION}", /one package from the npm registry/],
  ["npx -y name", /the isolation "sandbox", not "none"/, { kind: "none" }],
  ["npx -y name", /the isolation "sandbox", not "container"/, { kind: "container" }],
];
for (const [line, reason, isolation] of REFUSED) {
  Deno.test(`on Deno Deploy, ${line} does not run${isolation ? " without a sandbox" : ""}`, () => {
    const spec = entry(line, isolation);
    assert.match(deployRefusal({ spec, source: FILE }) ?? "", reason);
  });
}

Deno.test("on Deno Deploy, only programs of the deployed file run", () => {
  const spec = entry("npx -y name");
  assert.match(deployRefusal({ spec, source: { kind: "store" } }) ?? "", /deployed \.mcp\.json/);
});

Deno.test({
  name: "on Deno Deploy, a program needs the permissions to run Deno and to write temporary files",
  permissions: { run: false, read: true, env: true },
  fn() {
    const refusal = deployRefusal({ spec: entry("npx -y name"), source: FILE });
    assert.match(refusal ?? "", /^this platform cannot run programs: .*permission to run Deno/);
  },
});

import assert from "node:assert/strict";
import {
  dataPlaces,
  type Machine,
  platformDirs,
  PROCESS_ENV,
  processEnv,
  writeFlag,
  writtenFolders,
} from "./folders.ts";

function env(values: Record<string, string>) {
  return { get: (name: string) => values[name] };
}

const CASES: [
  string,
  typeof Deno.build.os,
  Record<string, string>,
  ReturnType<typeof platformDirs>,
][] = [
  ["Linux without XDG variables", "linux", { HOME: "/home/ada" }, {
    home: "/home/ada",
    config: "/home/ada/.config/quartermaster",
    data: "/home/ada/.local/share/quartermaster",
  }],
  ["Linux with XDG variables and no HOME", "linux", {
    XDG_CONFIG_HOME: "/c",
    XDG_DATA_HOME: "/d",
  }, { home: undefined, config: "/c/quartermaster", data: "/d/quartermaster" }],
  ["Linux, relative XDG folders ignored", "linux", {
    HOME: "/h",
    XDG_CONFIG_HOME: "c",
    XDG_DATA_HOME: "",
  }, { home: "/h", config: "/h/.config/quartermaster", data: "/h/.local/share/quartermaster" }],
  ["macOS", "darwin", { HOME: "/Users/ada", XDG_DATA_HOME: "/d" }, {
    home: "/Users/ada",
    config: "/Users/ada/Library/Application Support/quartermaster",
    data: "/Users/ada/Library/Application Support/quartermaster",
  }],
  ["Windows", "windows", {
    USERPROFILE: "C:\\Users\\ada",
    APPDATA: "C:\\Users\\ada\\AppData\\Roaming",
    LOCALAPPDATA: "D:\\Local",
  }, {
    home: "C:\\Users\\ada",
    config: "C:\\Users\\ada\\AppData\\Roaming\\quartermaster",
    data: "D:\\Local\\quartermaster",
  }],
  ["Windows without APPDATA", "windows", { USERPROFILE: "C:\\Users\\ada" }, {
    home: "C:\\Users\\ada",
    config: "C:\\Users\\ada\\AppData\\Roaming\\quartermaster",
    data: "C:\\Users\\ada\\AppData\\Local\\quartermaster",
  }],
  ["nothing known", "linux", {}, { home: undefined, config: undefined, data: undefined }],
];

for (const [name, os, values, expected] of CASES) {
  Deno.test(`platformDirs() finds the folders: ${name}`, () => {
    assert.deepEqual(platformDirs(os, env(values)), expected);
  });
}

const MACHINES: Record<string, { machine: Machine; args?: string[]; folders: string[] }> = {
  "Linux with HOME only": {
    machine: machine("linux", { HOME: "/home/ada" }),
    folders: [
      "/home/ada/.local/share/quartermaster",
      "/home/ada/.npm/_npx",
      "/home/ada/.cache/quartermaster/isolated/npm/_npx",
      "/tmp",
    ],
  },
  "Linux with variables and flags": {
    machine: machine("linux", {
      HOME: "/home/ada",
      XDG_CACHE_HOME: "/caches",
      TMPDIR: "/scratch",
      TEMP: "/other",
      npm_config_cache: "/npm",
      QUARTERMASTER_DATA_DIR: "/data",
    }),
    args: ["start", "--data-dir=/mine", "--kv", "/stores/one.kv"],
    folders: [
      "/mine",
      "/stores",
      "/npm/_npx",
      "/caches/quartermaster/isolated/npm/_npx",
      "/scratch",
    ],
  },
  "macOS with a cache in .npmrc": {
    machine: machine("darwin", { HOME: "/Users/ada", TMPDIR: "/var/T/" }, "cache=~/npm cache\n"),
    args: ["--kv", ":memory:"],
    folders: [
      "/Users/ada/Library/Application Support/quartermaster",
      "/Users/ada/npm cache/_npx",
      "/Users/ada/.cache/quartermaster/isolated/npm/_npx",
      "/var/T/",
    ],
  },
  "Linux with relative paths and a store beside nothing": {
    machine: machine("linux", { HOME: "/home/ada", QUARTERMASTER_KV: "/one.kv" }),
    args: ["--data-dir", "./data"],
    folders: [
      "/srv/app/data",
      "/",
      "/home/ada/.npm/_npx",
      "/home/ada/.cache/quartermaster/isolated/npm/_npx",
      "/tmp",
    ],
  },
  "Windows with a relative store": {
    args: ["--kv", "stores\\one.kv"],
    machine: machine("windows", {
      USERPROFILE: "C:\\Users\\ada",
      LOCALAPPDATA: "C:\\Users\\ada\\AppData\\Local",
      TMP: "C:\\Temp",
    }),
    folders: [
      "C:\\Users\\ada\\AppData\\Local\\quartermaster",
      "D:\\work\\stores",
      "C:\\Users\\ada\\AppData\\Local\\npm-cache\\_npx",
      "/tmp/.cache/quartermaster/isolated\\npm\\_npx",
      "C:\\Temp",
    ],
  },
};

function machine(os: Machine["os"], values: Record<string, string>, npmrc?: string): Machine {
  const cwd = () => os === "windows" ? "D:\\work" : "/srv/app";
  return { os, env: env(values), cwd, readText: () => npmrc };
}

for (const [name, { machine, args = [], folders }] of Object.entries(MACHINES)) {
  Deno.test(`writtenFolders() has what a gateway writes: ${name}`, () => {
    assert.deepEqual(writtenFolders(dataPlaces(args, machine), machine), folders);
  });
}

const TEMPORARY: [Machine["os"], Record<string, string>, Record<string, string>][] = [
  ["linux", { TMPDIR: "/scratch", TEMP: "/other" }, { TMPDIR: "/scratch" }],
  ["linux", { TMPDIR: "", TMP: "relative", TEMP: "/other" }, { TMPDIR: "/other" }],
  ["darwin", {}, { TMPDIR: "/tmp" }],
  ["windows", { TMP: "C:\\Temp", TEMP: "D:\\Temp" }, { TMP: "C:\\Temp", TEMP: "C:\\Temp" }],
  ["windows", {}, {}],
];

Deno.test("processEnv() names the temporary folder that writtenFolders() has", () => {
  for (const [os, values, expected] of TEMPORARY) {
    assert.deepEqual(processEnv(machine(os, values)), { ...PROCESS_ENV, ...expected });
    const folders = writtenFolders({}, machine(os, values));
    for (const folder of Object.values(expected)) assert.ok(folders.includes(folder));
  }
});

Deno.test("writeFlag() permits all folders if a comma in a path would separate it", () => {
  assert.equal(writeFlag(["/a b", "/c"]), "--allow-write=/a b,/c");
  assert.equal(writeFlag(["/a,b", "/c"]), "--allow-write");
});

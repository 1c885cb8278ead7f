import assert from "node:assert/strict";
import { platformDirs } from "./folders.ts";

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

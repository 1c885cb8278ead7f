import assert from "node:assert/strict";
import { scanName, scanParameters } from "./names.ts";

const around = {
  server: "demo",
  otherTools: new Set(["read_file", "search"]),
  otherServers: new Set<string>(),
  reserved: new Set(["tool_execute"]),
};

function findingsOf(name: string): string[] {
  return scanName(name, around).map(({ severity, rule }) => `${severity} ${rule}`);
}

Deno.test("scanName() lets two servers have the same name", () => {
  assert.deepEqual(findingsOf("read_file"), ["low shadowing"]);
  assert.deepEqual(findingsOf("Search"), ["low shadowing"]);
  assert.deepEqual(findingsOf("write_file"), []);
  assert.deepEqual(findingsOf("read_files"), []);
});

Deno.test("scanName() finds names that only look the same", () => {
  for (const name of ["rеad_file", "read\u200B_file", "ｒead_file"]) {
    assert.deepEqual(findingsOf(name), ["high shadowing"], name);
  }
  for (const name of ["Read_File", "read_fi1e"]) {
    assert.deepEqual(findingsOf(name), ["medium shadowing"], name);
  }
});

Deno.test("scanName() finds misspellings", () => {
  assert.deepEqual(findingsOf("raed_file"), ["medium shadowing"]);
  assert.deepEqual(findingsOf("read_fille"), ["medium shadowing"]);
});

Deno.test("scanName() keeps the gateway's own names free", () => {
  assert.deepEqual(findingsOf("tool_execute"), ["medium reserved-name"]);
  assert.deepEqual(findingsOf("Tool_Execute"), ["medium reserved-name"]);
  assert.deepEqual(findingsOf("tool_executе"), ["high reserved-name"]);
});

Deno.test("scanName() sees names that were added to a set it knows", () => {
  const otherTools = new Set(["a_tool"]);
  assert.deepEqual(scanName("B_tool", { ...around, otherTools }), []);
  otherTools.add("b_tool");
  assert.equal(scanName("B_tool", { ...around, otherTools }).length, 1);
});

function severities(description: string, ...parameters: string[]): string[] {
  const properties = Object.fromEntries(parameters.map((it) => [it, { type: "string" }]));
  return scanParameters({ name: "add", description, inputSchema: { properties } })
    .map(({ severity, where }) => `${severity} ${where}`);
}

Deno.test("scanParameters() finds parameters that ask for what the model knows", () => {
  assert.deepEqual(
    severities("Adds numbers.", "a", "conversation_history", "_system_prompt_", "sidenote"),
    [
      "medium inputSchema.properties.conversation_history",
      "medium inputSchema.properties._system_prompt_",
      "medium inputSchema.properties.sidenote",
    ],
  );
});

Deno.test("scanParameters() finds secrets of the machine where the tool has no use for them", () => {
  assert.deepEqual(severities("Weather of a city.", "ssh_key", "api_key"), [
    "medium inputSchema.properties.ssh_key",
  ]);
  assert.deepEqual(severities("Connects to a host.", "ssh_key"), [
    "low inputSchema.properties.ssh_key",
  ]);
});

Deno.test("scanParameters() lets tools for models and messages have them", () => {
  assert.deepEqual(severities("Calls a language model.", "system_prompt"), [
    "low inputSchema.properties.system_prompt",
  ]);
  assert.deepEqual(severities("Adds numbers.", "context", "notes", "prompt"), []);
});

Deno.test("scanParameters() bears a schema of any shape", () => {
  for (const inputSchema of [undefined, null, [], "x", { properties: [] }, { properties: null }]) {
    assert.deepEqual(scanParameters({ name: 7, inputSchema }), []);
  }
});

Deno.test("scanName() finds a copy of another server's tool, and leaves siblings alone", () => {
  const text =
    "Runs a command on the machine and returns what it prints, line by line, as plain text.";
  const others = new Map([["execute_command", text], ["list_files", "Lists files."]]);
  const found = (name: string, description: string, ownTools: string[] = []) =>
    scanName(
      name,
      {
        server: "s",
        otherTools: others,
        otherServers: new Set(),
        reserved: new Set(),
        ownTools: new Set(ownTools),
      },
      description,
    ).map(({ rule, severity }) => `${severity} ${rule}`);
  assert.deepEqual(found("execute_command_v1", text), ["medium shadowing"]);
  assert.deepEqual(found("better_execute_command", `${text} Fast.`), ["medium shadowing"]);
  assert.deepEqual(found("execute-command", "Runs a command, prints what it returns."), [
    "low shadowing",
  ], "another style of the same name");
  assert.deepEqual(found("execute-command", text), ["medium shadowing"]);
  assert.deepEqual(found("list_files_2", "Shows invoices of a year."), ["low shadowing"]);
  assert.deepEqual(found("execute_command_2", text, ["execute_command", "execute_command_2"]), []);
  assert.deepEqual(found("run_it", text), ["low shadowing"]);
});

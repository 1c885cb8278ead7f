import assert from "node:assert/strict";
import { Validator } from "npm:@seriousme/openapi-schema-validator@2.11.0";
import * as z from "zod";
import { RIGHTS } from "../core/access.ts";
import { GatewayError } from "../core/errors.ts";
import { Grants, RightMissing } from "../auth/grants.ts";
import { BUILTIN_NAMES } from "../mcp/builtin_names.ts";
import { OPERATIONS } from "./all.ts";
import {
  commandName,
  flagFieldsOf,
  flagName,
  placeholdersOf,
  readWritten,
  usageOf,
} from "./cli.ts";
import { choicesOf, fieldsOf } from "./fields.ts";
import { openApi } from "./http.ts";
import { operationTools } from "./mcp.ts";
import { type Operation, runOperation } from "./operation.ts";
import { callBy, NOTHING, servicesOf } from "./testing/services.ts";

const ALL = [...OPERATIONS.values()];

function each(name: string, check: (operation: Operation) => void | Promise<void>): void {
  Deno.test(`every operation: ${name}`, async () => {
    assert.ok(ALL.length > 5, "no operations were found");
    for (const operation of ALL) await check(operation);
  });
}

each("has a name of family and action, and texts", ({ name, title, description }) => {
  assert.match(name, /^[a-z]+\.[a-z_]+$/);
  assert.match(title, /^[A-Z]/, name);
  if (typeof description === "string") assert.match(description, /^[A-Z].*\.$/, name);
});

each("describes each field of its input", ({ name, input, fileInput }) => {
  for (const field of fieldsOf(input)) {
    if (field.name === fileInput?.field) continue;
    const isNamed = choicesOf(field) !== undefined || field.description !== undefined ||
      field.hints.completes !== undefined || field.hints.help !== undefined ||
      field.name === "page";
    assert.ok(isNamed, `${name}: ${field.name} has no description`);
  }
});

each("has a schema for its output, or a media type", ({ name, output }) => {
  if ("file" in output) assert.match(output.file, /^\w+\/[\w.+-]+$/, name);
  else assert.ok(z.toJSONSchema(output, { unrepresentable: "any" }), name);
});

each("completes every argument of its command", (operation) => {
  if (operation.cli === undefined) return;
  for (const { field, label } of placeholdersOf(operation)) {
    const isKnown = field.hints.completes !== undefined || choicesOf(field) !== undefined;
    assert.ok(isKnown, `${commandName(operation)}: nothing completes ${label}`);
  }
  assert.match(usageOf(operation), new RegExp(`^${commandName(operation)}`));
});

each("refuses a caller without one of its rights, at every entrance", async (operation) => {
  const { name, rights, scope } = operation;
  assert.ok(rights.length > 0, name);
  const [tool] = operationTools([operation], servicesOf({}));
  if (operation.mcp !== undefined) {
    assert.deepEqual(tool?.needs, { rights, isWhole: scope === "whole" }, name);
  }
  for (const missing of rights) {
    const others = RIGHTS.filter((right) => right !== missing);
    const wide = { servers: ["*"], toolsets: ["*"], tools: ["*"] };
    const grants = new Grants({ rights: others, ...wide }, undefined);
    const access = {
      grants: () => grants,
      demand(_: string, right: (typeof RIGHTS)[number], attempt: string) {
        if (!grants.may(right)) throw new RightMissing(right, attempt);
      },
      ...NOTHING,
    };
    const refused = await runOperation(operation, servicesOf({ access }), {}, callBy("token:x"))
      .catch((error) => error);
    assert.ok(refused instanceof RightMissing && refused.right === missing, `${name}: ${missing}`);
  }
  if (scope !== "whole") return;
  const narrow = new Grants(
    { rights: [...RIGHTS], servers: ["git"], toolsets: ["*"], tools: ["*"] },
    undefined,
  );
  const access = { grants: () => narrow, demand: () => {}, ...NOTHING };
  const refused = await runOperation(operation, servicesOf({ access }), {}, callBy("token:x"))
    .catch((error) => error);
  assert.ok(refused instanceof GatewayError && refused.code === "ACCESS_DENIED", name);
});

each("asks before it destroys something", ({ name, effect, confirm }) => {
  // A removed server can be brought back.
  const isUndone = name === "server.remove";
  assert.equal(effect === "destroy" && !isUndone, confirm !== undefined, name);
});

Deno.test("names of operations, tools and commands are unique", () => {
  const unique = (names: string[]) => assert.deepEqual(names, [...new Set(names)]);
  unique(ALL.map(({ name }) => name));
  unique(ALL.flatMap(({ mcp }) => mcp ?? []));
  // Operations may share a command if what is written tells them apart.
  unique(ALL.filter(({ cli }) => cli !== undefined).map(usageOf));
  for (const operation of ALL) unique(flagFieldsOf(operation).map(flagName));
});

Deno.test("what only a person may decide is no MCP tool", () => {
  const tools = ALL.flatMap(({ mcp }) => mcp ?? []);
  for (const tool of tools) assert.ok(BUILTIN_NAMES.includes(tool), tool);
  const closed = ALL.filter(({ name }) =>
    /^(consent|approval|review|token|project|secret|data)\./.test(name)
  );
  assert.deepEqual(closed.filter(({ mcp }) => mcp !== undefined).map(({ name }) => name), []);
});

Deno.test("/api/openapi.json is a valid OpenAPI document with every operation", async () => {
  const document = JSON.parse(JSON.stringify(openApi(ALL, "1.0.0")));
  const { valid, errors } = await new Validator().validate(document);
  assert.ok(valid, JSON.stringify(errors));
  const reading = ALL.filter(({ effect }) => effect === "read").length;
  const described = Object.values<object>(document.paths).flatMap((path) => Object.keys(path));
  assert.equal(described.length, ALL.length + reading);
});

Deno.test("readWritten() names the required flags in the usage of a failed command", () => {
  const create = ALL.find(({ name }) => name === "token.create")!;
  assert.throws(
    () => readWritten(create, { positionals: [], flags: new Map() }),
    (error: Error) =>
      /Usage: quartermaster token create --name NAME$/.test(
        String((error as GatewayError).details.recoveryAction),
      ),
  );
});

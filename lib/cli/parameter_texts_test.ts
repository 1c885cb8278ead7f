import assert from "node:assert/strict";
import type { CommandInput } from "./command.ts";
import { parameterChangeText, parametersText, readProposal } from "./parameter_texts.ts";

const plain = (_: string, text: string) => text;

function read(...parameters: string[]) {
  const values = new Map([["description", ["Finds"]], ["parameter", parameters]]);
  const input = { positionals: ["library.find_books"], flags: new Map(), values };
  return readProposal(input as unknown as CommandInput);
}

Deno.test("readProposal() takes a path and a text, whatever is in either", async () => {
  assert.deepEqual(await read(), { tool: "library.find_books", description: "Finds" });
  const { parameters } = await read(
    "query=a=b",
    "filter.since=",
    'filter["a=\\"b"]=x',
    "tags[]=y\nz",
  );
  assert.deepEqual(parameters, {
    query: "a=b",
    "filter.since": "",
    'filter["a=\\"b"]': "x",
    "tags[]": "y\nz",
  });
  for (const wrong of ["query", "=x"]) {
    await assert.rejects(read(wrong), /--parameter requires PATH=TEXT, not/);
  }
});

Deno.test("parametersText() shows what a text changes, also where the parameter is gone", () => {
  const parameters = { query: "A title\x1b[31m", since: "A year", gone: "x" };
  const canonicalParameters = { query: "Query", since: null };
  assert.equal(
    parametersText({ parameters }, { canonicalParameters }, plain),
    "    parameter query\n      - Query\n      + A title\n" +
      "    parameter since\n      - (none)\n      + A year\n" +
      "    parameter gone\n      - (no such parameter now)\n      + x\n",
  );
  assert.equal(
    parameterChangeText({ path: "since", before: null, now: "A day" }),
    "  since was: none\n  since is:  A day\n",
  );
  assert.match(parameterChangeText({ path: "since", before: "A day" }), /since is: {2}gone\n$/);
});

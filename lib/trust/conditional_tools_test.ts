import assert from "node:assert/strict";
import { ownOffer } from "../catalog/listed_to.ts";
import { ConditionalTools } from "./conditional_tools.ts";

const tool = (name: string, description = "") => JSON.stringify({ name, description });
const shared = [tool("look")];

Deno.test("ConditionalTools keeps what is listed to an offer only, until it no longer is", () => {
  const tools = new ConditionalTools();
  const names = () =>
    Array.from(tools.besides("git", shared), ([name, { listedTo }]) => [name, listedTo]);
  const note = (offer: string, ...texts: string[]) =>
    tools.note("git", offer, [...shared, ...texts], shared);
  assert.deepEqual(note("a", tool("ask"), "{}", "1"), { isNew: true });
  assert.equal(note("a", tool("ask")), undefined);
  assert.deepEqual(note("b", tool("ask"), tool("tell")), { isNew: true });
  assert.deepEqual(names(), [["ask", ["a", "b"]], ["tell", ["b"]]]);
  assert.deepEqual(note("b", tool("tell", "changed")), { isNew: false });
  assert.deepEqual(names(), [["ask", ["a"]], ["tell", ["b"]]]);
  assert.deepEqual([...tools.besides("git", [...shared, tool("ask")]).keys()], ["tell"]);
  note("a");
  note("b");
  assert.deepEqual(names(), []);
});

Deno.test("ConditionalTools.recall() takes what is stored only where nothing is known", () => {
  const tools = new ConditionalTools();
  const stored = [{ name: "look", text: tool("look") }, {
    name: "ask",
    text: tool("ask"),
    listedTo: ["a"],
  }, {
    name: "own",
    text: tool("own"),
    listedTo: [ownOffer("a", "token:ann")],
  }];
  tools.recall("git", stored);
  assert.deepEqual([...tools.besides("git", shared).keys()], ["ask"]);
  tools.note("git", "a", shared, shared);
  tools.recall("git", stored);
  assert.deepEqual([...tools.besides("git", shared).keys()], []);
});

import assert from "node:assert/strict";
import type { ManagedServer } from "../downstream/managed_server.ts";
import { CombinedResources } from "./combined_resources.ts";
import type { ListedItem } from "./server_listing.ts";

const [one, two, three] = ["one", "two", "three"].map((name) =>
  ({ name }) as unknown as ManagedServer
) as [ManagedServer, ManagedServer, ManagedServer];

const SERVERS = [one, two, three];

function item(server: ManagedServer, value: Record<string, unknown>): ListedItem {
  return { server, value, text: JSON.stringify(value) };
}

const resource = (server: ManagedServer, uri: string) => item(server, { uri, name: "it" });
const template = (server: ManagedServer, uriTemplate: string) => item(server, { uriTemplate });

Deno.test("CombinedResources leaves URIs as they are, and puts a server before one that is taken", () => {
  const combined = new CombinedResources(
    [one, two, three].map((server) => resource(server, "a://b?c=d#e")),
    [],
  );
  const uris = combined.resourceTexts.map((text) => JSON.parse(text).uri);
  assert.deepEqual(uris, [
    "a://b?c=d#e",
    "quartermaster://two/a://b?c=d#e",
    "quartermaster://three/a://b?c=d#e",
  ]);
  assert.ok(uris.every((uri) => URL.canParse(uri)));
  const owners = uris.map((uri) => combined.find(uri, SERVERS));
  assert.deepEqual(owners.map((route) => route?.server), [one, two, three]);
  assert.ok(owners.every((route) => route?.uri === "a://b?c=d#e"));
  assert.equal(combined.exposed("two", "a://b?c=d#e"), uris[1]);
  assert.equal(combined.exposed("one", "a://b?c=d#e"), uris[0]);
});

Deno.test("CombinedResources.find() knows what a template can become, under its server's own URI", () => {
  const combined = new CombinedResources([], [
    template(one, "a://items/{id}/x"),
    template(two, "a://items/{id}/x"),
    template(three, "b://{+path}{?q*}"),
  ]);
  assert.deepEqual(combined.templateTexts.map((text) => JSON.parse(text).uriTemplate), [
    "a://items/{id}/x",
    "quartermaster://two/a://items/{id}/x",
    "b://{+path}{?q*}",
  ]);
  assert.deepEqual(combined.find("a://items/5/x", SERVERS), { server: one, uri: "a://items/5/x" });
  assert.deepEqual(combined.find("quartermaster://two/a://items/5/x", SERVERS), {
    server: two,
    uri: "a://items/5/x",
  });
  assert.equal(
    combined.find("quartermaster://two/a://items/{id}/x", SERVERS)?.uri,
    "a://items/{id}/x",
  );
  assert.equal(combined.find("b://x/y?q=1", SERVERS)?.server, three);
  assert.equal(combined.find("a://items/5/y", SERVERS), undefined);
  assert.equal(combined.find("a://items/5.x", SERVERS), undefined, "a dot in a template is a dot");
});

Deno.test("CombinedResources.find() is quick with a URI that is made to be slow", () => {
  const combined = new CombinedResources([], [
    template(one, `a://${"{x}a".repeat(19)}`),
    template(two, `c://b${"{x}".repeat(19)}!`),
  ]);
  assert.equal(combined.find(`a://${"a".repeat(5_000)}b`, SERVERS), undefined);
  assert.equal(combined.find(`c://b${"a".repeat(5_000)}`, SERVERS), undefined);
  assert.equal(combined.find(`a://${"a".repeat(5_000)}`, SERVERS)?.server, one);
  assert.equal(combined.find("c://b!", SERVERS)?.server, two);
  assert.equal(combined.find("c://b !", SERVERS), undefined);
});

Deno.test("CombinedResources.find() takes a URI that names a server for no other server's template", () => {
  const combined = new CombinedResources([], [
    template(one, "quartermaster://{server}/{+rest}"),
    template(two, "{+anything}"),
  ]);
  assert.equal(combined.find("quartermaster://three/c://x", SERVERS), undefined);
  assert.equal(combined.find("quartermaster://two/c://x", SERVERS)?.server, two);
  assert.equal(combined.find("quartermaster://unknown/c://x", SERVERS)?.server, one);
});

Deno.test("CombinedResources.guess() goes by the server in a URI, or by a scheme of just one", () => {
  const combined = new CombinedResources([
    resource(one, "a://1"),
    resource(two, "b://2"),
    resource(three, "b://3"),
  ], []);
  const servers = [one, two, three];
  assert.deepEqual(combined.guess("a://other", servers), { server: one, uri: "a://other" });
  assert.equal(combined.guess("b://other", servers), undefined);
  assert.equal(combined.guess("c://other", servers), undefined);
  assert.deepEqual(combined.guess("quartermaster://three/c://x", servers), {
    server: three,
    uri: "c://x",
  });
  assert.equal(combined.guess("quartermaster://three/c://x", [one, two]), undefined);
});

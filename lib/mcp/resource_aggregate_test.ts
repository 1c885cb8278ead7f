import assert from "node:assert/strict";
import type { ManagedServer } from "../servers/server.ts";
import {
  parseScopedUri,
  ResourceAggregate,
  scopedUri,
  withExposedPage,
  withExposedUris,
} from "./resource_aggregate.ts";
import type { ListedItem } from "./server_lists.ts";

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
  const combined = new ResourceAggregate(
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

Deno.test("CombinedResources puts the server into every page's URI, which stays a ui:// URI", () => {
  const page = "ui://clock/page.html";
  const combined = new ResourceAggregate(
    [resource(one, page), resource(two, page), resource(three, "ui://other")],
    [template(one, "ui://clock/{id}")],
  );
  assert.deepEqual(combined.resourceTexts.map((text) => JSON.parse(text).uri), [
    "ui://one.quartermaster/clock/page.html",
    "ui://two.quartermaster/clock/page.html",
    "ui://three.quartermaster/other",
  ]);
  assert.equal(
    JSON.parse(combined.templateTexts[0]!).uriTemplate,
    "ui://one.quartermaster/clock/{id}",
  );
  assert.equal(combined.exposed("two", page), "ui://two.quartermaster/clock/page.html");
  assert.equal(combined.find(page, SERVERS), undefined, "whose it is nobody could tell");
});

Deno.test("CombinedResources.find() knows what a template can become, under its server's own URI", () => {
  const combined = new ResourceAggregate([], [
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
  const combined = new ResourceAggregate([], [
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
  const combined = new ResourceAggregate([], [
    template(one, "quartermaster://{server}/{+rest}"),
    template(two, "{+anything}"),
  ]);
  assert.equal(combined.find("quartermaster://three/c://x", SERVERS), undefined);
  assert.equal(combined.find("quartermaster://two/c://x", SERVERS)?.server, two);
  assert.equal(combined.find("quartermaster://unknown/c://x", SERVERS)?.server, one);
});

Deno.test("CombinedResources.guess() goes by the server in a URI, or by a scheme of just one", () => {
  const combined = new ResourceAggregate([
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

Deno.test("scopedUri() is reversible, whatever a server calls its pages", () => {
  const uris = ["ui://a", "ui://a/b?c=d#e", "ui://git.quartermaster/x", "ui://x\ny", "ui://{id}"];
  for (const uri of uris) {
    for (const server of ["git", "A_b-9"]) {
      const exposed = scopedUri(server, uri);
      assert.match(exposed, /^ui:\/\//);
      assert.deepEqual(parseScopedUri(exposed), { server, uri });
    }
  }
  for (const uri of ["ui://a/b", "ui://git/quartermaster/b", "ui://git.quartermaster/", "x://a"]) {
    assert.equal(parseScopedUri(uri), undefined);
  }
});

Deno.test("withExposedPage() changes what a tool points at under both keys, and nothing else", () => {
  const definition = String.raw`{"name":"t", "inputSchema":{"type":"object","properties":` +
    String
      .raw`{"uri":{"const":"ui://p"}},"examples":[{"uri":"ui://p"}],"maximum":12345678901234567890},` +
    String
      .raw`"_meta":{"ui":{"resourceUri":"ui:\/\/p","visibility":["app"]},"ui/resourceUri":"ui://p",` +
    String.raw`"other":"ui://p","2":1,"1":2}}`;
  assert.equal(
    withExposedPage("git", definition),
    definition.replace(String.raw`"ui:\/\/p"`, '"ui://git.quartermaster/p"')
      .replace('"ui/resourceUri":"ui://p"', '"ui/resourceUri":"ui://git.quartermaster/p"'),
  );
  for (
    const plain of ['{"name":"t"}', '{"name":"t","_meta":null}', '{"_meta":{"ui":[1,"ui://p"]}}']
  ) {
    assert.equal(withExposedPage("git", plain), plain);
  }
});

const exposed = (uri: string) => `ui://git.quartermaster/${uri.slice("ui://".length)}`;

Deno.test("withExposedUris() changes links, embedded pages and read contents, not a tool's data", () => {
  const own = { uri: "ui://p", text: "see ui://p" };
  const answer = (page: object) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      result: {
        content: [
          { type: "text", text: "uri ui://p" },
          { type: "resource_link", ...page },
          { type: "resource", resource: page },
        ],
        contents: [page],
        messages: [{ role: "user", content: { type: "resource", resource: page } }],
        structuredContent: { uri: "ui://p" },
        _meta: { ui: { resourceUri: "http://p" }, uri: "a://b" },
      },
    });
  assert.equal(
    withExposedUris(answer(own), exposed),
    answer({ ...own, uri: "ui://git.quartermaster/p" }),
  );
  for (
    const text of ['{"id":1,"error":{"code":1,"message":"ui://p"}}', '{"id":1,"result":"ui:"}']
  ) {
    assert.equal(withExposedUris(text, exposed), text);
  }
});

Deno.test("withExposedUris() survives an endlessly nested result", () => {
  const depth = 200_000;
  const text = `{"id":1,"result":{"content":${"[".repeat(depth)}"ui:"${"]".repeat(depth)}}}`;
  assert.equal(withExposedUris(text, exposed), text);
});

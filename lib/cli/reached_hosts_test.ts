import assert from "node:assert/strict";
import { permittedHosts } from "./reached_hosts.ts";

const HOSTS: Record<string, string[]> = {
  "https://api.example.com/mcp": ["api.example.com"],
  "http://127.0.0.1:8080/": ["127.0.0.1"],
  "http://[::1]:8080/": ["[::1]"],
  "http://my_host/": ["my_host"],
  // With any of these in --allow-net, Deno would not start.
  "https://${HOST}/mcp": [],
  "http://a..b/": [],
  "http://a!b.com/": [],
  "http://a,b.com/": [],
  "not a URL": [],
};
for (const [url, hosts] of Object.entries(HOSTS)) {
  Deno.test(`permittedHosts() of ${url}`, () => assert.deepEqual(permittedHosts(url), hosts));
}

import assert from "node:assert/strict";
import { completeAddress, isLoopback } from "./address.ts";

Deno.test("completeAddress() gives what is close by http, and the open internet https", () => {
  const addresses: [string, string][] = [
    ["localhost:3000/mcp", "http://localhost:3000/mcp"],
    ["127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["[::1]:8080/mcp", "http://[::1]:8080/mcp"],
    ["nas:3000?key=a", "http://nas:3000?key=a"],
    ["tools.local:9000", "http://tools.local:9000"],
    ["localhost:8443", "https://localhost:8443"],
    ["name.example:443/mcp", "https://name.example:443/mcp"],
    ["name.example:3000", "https://name.example:3000"],
    ["name.example:80/mcp", "http://name.example:80/mcp"],
  ];
  for (const [text, url] of addresses) {
    const completed = completeAddress(text);
    assert.equal(completed?.url, url);
    assert.ok(completed?.note.includes(url.split("?")[0] ?? ""));
    assert.ok(!completed?.note.includes("key=a"));
  }
});

Deno.test("completeAddress() leaves programs, paths and impossible ports alone", () => {
  for (
    const text of [
      "npx",
      "example.com/mcp",
      "./bin/server:3000",
      "localhost:3000 --flag",
      "docker:latest",
      "C:\\tools\\server.exe",
      "localhost:99999",
      "A=1:2",
      "localhost",
    ]
  ) {
    assert.equal(completeAddress(text), undefined, text);
  }
});

Deno.test("isLoopback() knows this machine by its names, and by none that look alike", () => {
  const own = ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"];
  assert.ok(own.every(isLoopback));
  const others = ["localhost.example", "127.0.0.1.example", "10.0.0.1", "0.0.0.0", "::", ""];
  assert.ok(!others.some(isLoopback));
});

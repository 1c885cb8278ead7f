import assert from "node:assert/strict";
import { AddressGuard, AddressRefused, closedHost } from "./address_guard.ts";

/** Spellings of what may not be reached, with what they are. */
const CLOSED: [host: string, words: RegExp][] = [
  ["127.0.0.1", /this machine/],
  ["127.8.9.10", /this machine/],
  ["127.1", /this machine/],
  ["0177.0.0.1", /this machine/],
  ["0x7f.0.0.1", /this machine/],
  ["0x7f000001", /this machine/],
  ["2130706433", /this machine/],
  ["017700000001", /this machine/],
  ["127.0.0.1.", /this machine/],
  ["１２７.0.0.1", /this machine/],
  ["127。0。0。1", /this machine/],
  ["0", /this machine/],
  ["0.0.0.0", /this machine/],
  ["0.1.2.3", /this machine/],
  ["localhost", /this machine/],
  ["LOCALHOST.", /this machine/],
  ["db.localhost", /this machine/],
  ["localhost.localdomain", /this machine/],
  ["[::1]", /this machine/],
  ["[::]", /this machine/],
  ["[0:0:0:0:0:0:0:1]", /this machine/],
  ["[::ffff:127.0.0.1]", /IPv4-over-IPv6/],
  ["[::ffff:7f00:1]", /IPv4-over-IPv6/],
  ["[0:0:0:0:0:ffff:a9fe:a9fe]", /IPv4-over-IPv6/],
  ["[::127.0.0.1]", /IPv4-over-IPv6/],
  ["[::ffff:1.1.1.1]", /IPv4-over-IPv6/],
  ["[64:ff9b::7f00:1]", /this machine/],
  ["[64:ff9b::169.254.169.254]", /metadata/],
  ["[64:ff9b::10.0.0.1]", /private network/],
  ["[64:ff9b:1::10.0.0.1]", /reserved/],
  ["[2002:7f00:1::]", /IPv4-over-IPv6/],
  ["[2002:a9fe:a9fe::1]", /IPv4-over-IPv6/],
  ["[2001:0:4136:e378::1]", /IPv4-over-IPv6/],
  ["10.0.0.1", /private network/],
  ["012.0.0.1", /private network/],
  ["172.16.0.1", /private network/],
  ["172.31.255.255", /private network/],
  ["192.168.1.1", /private network/],
  ["0xc0.0xa8.1.1", /private network/],
  ["3232235777", /private network/],
  ["100.64.0.1", /private network/],
  ["100.127.255.255", /private network/],
  ["[fc00::1]", /private network/],
  ["[fd12:3456::1]", /private network/],
  ["[fec0::1]", /private network/],
  ["169.254.1.1", /link-local/],
  ["[fe80::1]", /link-local/],
  ["[febf::1]", /link-local/],
  ["169.254.169.254", /metadata/],
  ["0xa9.0xfe.0xa9.0xfe", /metadata/],
  ["2852039166", /metadata/],
  ["100.100.100.200", /metadata/],
  ["[fd00:ec2::254]", /metadata/],
  ["metadata.google.internal", /metadata/],
  ["METADATA.google.internal.", /metadata/],
  ["224.0.0.1", /multicast/],
  ["[ff02::1]", /multicast/],
  ["255.255.255.255", /reserved/],
  ["192.0.2.1", /reserved/],
  ["[2001:db8::1]", /reserved/],
  ["[100::1]", /reserved/],
];

const OPEN = [
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.1",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.0.1",
  "172.32.0.1",
  "192.167.1.1",
  "192.169.1.1",
  "169.253.1.1",
  "198.20.0.1",
  "223.255.255.255",
  "[2606:4700:4700::1111]",
  "[2a00:1450:4001:81c::200e]",
  "[64:ff9b::1.1.1.1]",
  "example.com",
  "localhost.example.com",
  "notlocalhost",
];

Deno.test("closedHostWords() knows every spelling of an address that is not out in the open", () => {
  assert.ok(CLOSED.length >= 40);
  for (const [host, words] of CLOSED) {
    assert.match(closedHost(new URL(`http://${host}/`).hostname) ?? "open", words, host);
  }
  for (const host of OPEN) {
    assert.equal(closedHost(new URL(`http://${host}/`).hostname), undefined, host);
  }
});

Deno.test("AddressGuard.addressesOf() refuses a name as soon as one of its addresses is closed", async () => {
  const names: Record<string, string[]> = {
    "open.example": ["1.1.1.1", "2606:4700::1"],
    "mixed.example": ["1.1.1.1", "10.0.0.7"],
    "zone.example": ["fe80::1%eth0"],
    "mapped.example": ["::ffff:127.0.0.1"],
  };
  const guard = new AddressGuard((hostname) => Promise.resolve(names[hostname] ?? []));
  assert.deepEqual(await guard.addressesOf("open.example"), ["1.1.1.1", "2606:4700::1"]);
  assert.deepEqual(await guard.addressesOf("[2606:4700::1]"), ["2606:4700::1"]);
  for (const name of ["mixed.example", "zone.example", "mapped.example", "localhost", "[::1]"]) {
    await assert.rejects(guard.addressesOf(name), AddressRefused, name);
  }
});

Deno.test("AddressGuard.refusalOf() says what leads where, and nothing of a name that is not found", async () => {
  const guard = new AddressGuard((hostname) =>
    hostname === "a.example" ? Promise.resolve(["192.168.0.1"]) : Promise.reject(new Error("none"))
  );
  assert.equal(
    await guard.refusalOf(new URL("https://a.example/mcp")),
    "a.example resolves to 192.168.0.1, an address of a private network, which is not allowed for " +
      "servers added at run time",
  );
  assert.match(
    await guard.refusalOf(new URL("http://[::1]:1/")) ?? "",
    /^::1 is an address of this machine/,
  );
  assert.equal(await guard.refusalOf(new URL("https://b.example/")), undefined);
});

import assert from "node:assert/strict";
import { OWNER, ownerTicket, readOwnerTicket, tokenUseNotes } from "./credentials.ts";

const secret = new Uint8Array(32).fill(7);
const gateway = { pid: 7, startedAt: 1_000 };

Deno.test("readOwnerTicket() takes its own secret's ticket, and no changed one", () => {
  const now = Date.now();
  const ticket = ownerTicket(secret, gateway, now);
  const read = readOwnerTicket(ticket, secret, gateway);
  assert.equal(read?.principal, OWNER);
  assert.equal(read?.expiresAt, now + 300_000);
  assert.equal(readOwnerTicket(ticket, new Uint8Array(32), gateway), undefined);
  const later = ticket.replace(String(now + 300_000), String(now + 900_000));
  assert.equal(readOwnerTicket(later, secret, gateway), undefined);
  assert.equal(readOwnerTicket("qmo_1_ab", secret, gateway), undefined);
});

Deno.test("readOwnerTicket() takes no ticket that was made for another gateway on the store", () => {
  for (const other of [{ pid: 8, startedAt: 1_000 }, { pid: 7, startedAt: 2_000 }]) {
    assert.equal(readOwnerTicket(ownerTicket(secret, other), secret, gateway), undefined);
  }
});

Deno.test("tokenUseNotes() keeps what could not be noted for the next time, and notes the rest", async () => {
  const noted: string[] = [];
  const used = [new Map([["a", 1], ["b", 1], ["c", 1]]), new Map([["b", 2]]), new Map()];
  const failing = new Set(["a", "b"]);
  const note = tokenUseNotes(() => used.shift() ?? new Map(), (id, time) => {
    if (failing.has(id)) return Promise.reject(new Error(`${id} is locked`));
    return Promise.resolve(void noted.push(`${id} ${time}`));
  });
  await assert.rejects(note(), /a is locked/);
  assert.deepEqual(noted, ["c 1"]);
  failing.clear();
  await note();
  assert.deepEqual(noted, ["c 1", "a 1", "b 2"]);
  await note();
  assert.equal(noted.length, 3);
});

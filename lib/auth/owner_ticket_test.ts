import assert from "node:assert/strict";
import { OWNER, ownerTicket, readOwnerTicket } from "./owner_ticket.ts";

const secret = new Uint8Array(32).fill(7);

Deno.test("readOwnerTicket() takes its own secret's ticket, and no changed one", () => {
  const now = Date.now();
  const ticket = ownerTicket(secret, now);
  const read = readOwnerTicket(ticket, secret);
  assert.equal(read?.principal, OWNER);
  assert.equal(read?.expiresAt, now + 300_000);
  assert.equal(readOwnerTicket(ticket, new Uint8Array(32)), undefined);
  const later = ticket.replace(String(now + 300_000), String(now + 900_000));
  assert.equal(readOwnerTicket(later, secret), undefined);
  assert.equal(readOwnerTicket("qmo_1_ab", secret), undefined);
});

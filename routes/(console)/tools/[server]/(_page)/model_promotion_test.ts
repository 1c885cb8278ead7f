import assert from "node:assert/strict";
import { stubGateway } from "../../../../../lib/console/testing/stub_gateway.ts";
import { promotionOf } from "./model.ts";

const promotion = {
  id: "1",
  server: "files",
  toolName: "read",
  candidateId: "c",
  promotedAt: "2026-01-31T12:00:00.000Z",
  description: "Reads a text file",
  by: "person" as const,
  canonicalDescription: "Reads a file",
};
const gateway = stubGateway({
  servers: [{ name: "files", tools: [{ name: "read", description: "Reads a file" }] }],
  promotions: [promotion],
});

Deno.test("promotionOf() has both descriptions and what differs", () => {
  const found = promotionOf(gateway, "files", "read");
  assert.deepEqual([found?.canonical, found?.promoted], ["Reads a file", "Reads a text file"]);
  assert.deepEqual(
    found?.diff.filter(({ kind }) => kind === "added").map(({ text }) => text.trim()),
    ["text"],
  );
  assert.equal(found?.promotedAt, Date.parse(promotion.promotedAt));
  assert.deepEqual([found?.by, found?.isStale], ["a person", false]);
});

Deno.test("promotionOf() finds none where nothing is promoted", () => {
  assert.equal(promotionOf(gateway, "files", "other"), undefined);
});

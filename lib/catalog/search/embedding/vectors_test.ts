import assert from "node:assert/strict";
import { aDocument } from "../testing/documents.ts";
import { VectorBlock } from "./vector_block.ts";
import { quantize, ToolVectors } from "./vectors.ts";

/** Tools t0, t1, ... with these vectors; no vector yet where it is undefined. */
function someVectors(vectors: (number[] | undefined)[]): ToolVectors {
  const book = new ToolVectors();
  vectors.forEach((vector, index) => {
    book.add(aDocument("s", `t${index}`, `tool ${index}`));
    for (const hash of book.missing(Infinity).keys()) {
      if (vector) book.put(hash, quantize(Float32Array.from(vector)));
    }
  });
  return book;
}

const [EAST, NORTH] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];

Deno.test("ToolVectors.compare() measures nearness against the average tool", () => {
  const scores = someVectors([[1, 0], [1, 1], [0, 1], undefined]).compare(EAST);
  assert.ok(scores.of("s.t0")!.tool > 0.5 && scores.of("s.t2")!.tool < -0.5);
  assert.equal(scores.of("s.t3"), undefined);
  assert.equal(scores.of("no.such"), undefined);
  assert.deepEqual(scores.nearest(1), ["s.t0"]);
  assert.equal(scores.nearest(10).length, 4);
  assert.deepEqual(new ToolVectors().compare(EAST).nearest(5), []);
});

Deno.test("ToolVectors.compare() is the same for models whose cosines lie elsewhere", () => {
  const [one, other] = [0, 3].map((shift) =>
    someVectors([[1, 0, shift], [0.6, 0.8, shift], [0, 1, shift]])
      .compare(Float32Array.of(1, 0, shift))
  );
  for (const key of ["s.t0", "s.t1", "s.t2"]) {
    assert.ok(Math.abs(one!.of(key)!.tool - other!.of(key)!.tool) < 0.1, key);
  }
});

Deno.test("ToolVectors.compare() measures each clause of the query by itself", () => {
  const book = someVectors([[1, 0], [-1, 0.2], [0, 1], [-0.2, -1]]);
  const scores = book.compare(Float32Array.of(1, 0.2), [EAST, NORTH]);
  const [east, north] = scores.of("s.t2")!.clauses;
  assert.ok(north! > east! + 0.5);
  assert.deepEqual(book.compare(EAST, [EAST]).of("s.t0")!.clauses, []);
});

Deno.test("VectorBlock multiplies as plain sums do, whatever the number of dimensions", () => {
  for (const dimensions of [1, 15, 16, 17, 224]) {
    const value = (row: number, at: number) => (row * 31 + at * 97 + 13) % 255 - 127;
    const vectors = Array.from(
      { length: 5 },
      (_, row) => Int8Array.from({ length: dimensions }, (_, at) => value(row, at)),
    );
    const block = new VectorBlock(vectors, dimensions);
    for (const one of [...vectors, new Int8Array(dimensions).fill(-127)]) {
      const sums = vectors.map((other) =>
        one.reduce((sum, each, at) => sum + each * other[at]!, 0)
      );
      block.aim(one);
      assert.deepEqual([...block.products()], sums);
      assert.deepEqual(vectors.map((_, row) => block.product(row)), sums);
    }
    assert.deepEqual(vectors.map((_, row) => block.row(row)), vectors);
  }
  assert.equal(new VectorBlock([], 224).products().length, 0);
});

Deno.test("VectorScores.nearest() keeps the nearest in order, of those admitted", () => {
  const book = someVectors(Array.from({ length: 40 }, (_, index) => [Math.sin(index), 1]));
  const scores = book.compare(EAST);
  const all = scores.nearest(40);
  const values = all.map((key) => scores.of(key)!.tool);
  assert.deepEqual(values, values.toSorted((one, other) => other - one));
  assert.deepEqual(scores.nearest(7), all.slice(0, 7));
  const isEven = (key: string) => Number(key.slice(3)) % 2 === 0;
  assert.deepEqual(scores.nearest(7, isEven), all.filter(isEven).slice(0, 7));
  assert.deepEqual(scores.nearest(0), []);
});

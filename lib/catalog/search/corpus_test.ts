import assert from "node:assert/strict";
import { Corpus } from "./corpus.ts";
import { someDocuments } from "./testing/documents.ts";

Deno.test("Corpus is the same after changes as one built anew", () => {
  const documents = someDocuments();
  const changed = new Corpus();
  for (const document of documents) changed.add(document);
  changed.add({ ...documents[0]!, description: "something else entirely, about zebras" });
  changed.remove(documents[1]!.key);
  changed.add(documents[0]!);
  changed.add(documents[1]!);
  const fresh = new Corpus();
  for (const document of documents) fresh.add(document);

  assert.equal(changed.size, fresh.size);
  assert.deepEqual([...changed.vocabulary.words()].sort(), [...fresh.vocabulary.words()].sort());
  for (const word of fresh.vocabulary.words()) {
    assert.equal(
      changed.vocabulary.countOf(changed.vocabulary.find(word)!),
      fresh.vocabulary.countOf(fresh.vocabulary.find(word)!),
      word,
    );
  }
  for (let field = 0; field < 7; field++) {
    assert.equal(changed.averageLength(field), fresh.averageLength(field));
  }
});

Deno.test("Corpus.remove() forgets words that nobody has", () => {
  const corpus = new Corpus();
  const [document] = someDocuments();
  corpus.add(document!);
  assert.equal(corpus.remove(document!.key), true);
  assert.equal(corpus.remove(document!.key), false);
  assert.deepEqual([...corpus.vocabulary.words()], []);
});

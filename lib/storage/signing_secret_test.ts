import assert from "node:assert/strict";
import { join } from "@std/path";
import { signingSecret } from "./signing_secret.ts";
import { Store } from "./store.ts";

Deno.test("signingSecret() is one for all stores on a file, whoever comes first, and stays", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const location = join(folder, "data.kv");
    let secret: string;
    {
      await using one = await Store.open({ location });
      await using other = await Store.open({ location });
      const racing = [one, other, one, other, one, other].map((store) => signingSecret(store));
      const found = new Set((await Promise.all(racing)).map((bytes) => bytes.toHex()));
      assert.equal(found.size, 1);
      secret = [...found][0]!;
      assert.match(secret, /^[0-9a-f]{64}$/);
    }
    await using later = await Store.open({ location });
    assert.equal((await signingSecret(later)).toHex(), secret);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("signingSecret() is another one for another store", async () => {
  await using one = await Store.open({ location: ":memory:" });
  await using other = await Store.open({ location: ":memory:" });
  assert.notEqual((await signingSecret(one)).toHex(), (await signingSecret(other)).toHex());
});

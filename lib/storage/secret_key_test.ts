import assert from "node:assert/strict";
import { join } from "node:path";
import { findKeyId, openSecretBox, readSecretKey } from "./secret_key.ts";
import { failure } from "./testing/failures.ts";

const HEX = "0123456789abcdef".repeat(4);
const LOCATION = { kind: "file" } as const;

async function withFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_" });
  try {
    await work(join(folder, "data"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function options(dataDir: string | undefined, secretKey?: string) {
  return { secretKey, dataDir, location: LOCATION };
}

Deno.test("openSecretBox() makes a key file once that only its owner can read", () =>
  withFolder(async (dataDir) => {
    assert.equal(await findKeyId({ secretKey: undefined, dataDir }), undefined);
    const box = await openSecretBox(options(dataDir));
    const sealed = await box.seal("hunter2");
    const path = join(dataDir, "secret.key");
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    assert.equal(await (await openSecretBox(options(dataDir))).open(sealed), "hunter2");
    assert.equal(await findKeyId({ secretKey: undefined, dataDir }), box.keyId);
    const left = (await Array.fromAsync(Deno.readDir(dataDir))).map(({ name }) => name);
    assert.deepEqual(left, ["secret.key"]);
  }));

Deno.test("openSecretBox() gives all who start at once the same key", () =>
  withFolder(async (dataDir) => {
    const script = `import { openSecretBox } from ${
      JSON.stringify(import.meta.resolve("./secret_key.ts"))
    };
      const box = await openSecretBox({ dataDir: Deno.args[0], location: { kind: "file" } });
      await Deno.stdout.write(new TextEncoder().encode(box.keyId));`;
    const module = `data:application/typescript;base64,${btoa(script)}`;
    const inside = Array.from({ length: 20 }, () => openSecretBox(options(dataDir)));
    const outside = Array.from({ length: 3 }, async () => {
      const { stdout, success } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "-q", "--no-check", "--config", "deno.json", module, dataDir],
        cwd: new URL("../..", import.meta.url),
      }).output();
      assert.ok(success);
      return new TextDecoder().decode(stdout);
    });
    const ids = [...(await Promise.all(inside)).map(({ keyId }) => keyId)];
    assert.deepEqual(new Set([...ids, ...await Promise.all(outside)]), new Set([ids[0]]));
  }));

Deno.test("openSecretBox() refuses a key file that others can read, and changes nothing", () =>
  withFolder(async (dataDir) => {
    await openSecretBox(options(dataDir));
    const path = join(dataDir, "secret.key");
    const before = await Deno.readTextFile(path);
    for (const mode of [0o640, 0o604, 0o644]) {
      await Deno.chmod(path, mode);
      const error = await failure(openSecretBox(options(dataDir)), "SECRET_UNREADABLE");
      assert.match(error.message, /users other than its owner can read it$/);
      assert.match(error.toBody().recoveryAction, /chmod 600/);
    }
    assert.equal(await Deno.readTextFile(path), before);
  }));

Deno.test("openSecretBox() refuses a file that is no key, and does not replace it", () =>
  withFolder(async (dataDir) => {
    await Deno.mkdir(dataDir);
    const path = join(dataDir, "secret.key");
    for (const text of ["", "hello", HEX.slice(1), "x".repeat(1_000)]) {
      await Deno.writeTextFile(path, text, { mode: 0o600 });
      const error = await failure(openSecretBox(options(dataDir)), "SECRET_UNREADABLE");
      assert.match(error.message, /does not contain a key of 32 bytes/);
      assert.equal(await Deno.readTextFile(path), text);
    }
  }));

Deno.test("openSecretBox() takes the key that is given, and then makes no file", () =>
  withFolder(async (dataDir) => {
    const box = await openSecretBox(options(dataDir, HEX));
    const base64 = Uint8Array.fromHex(HEX).toBase64();
    assert.equal((await openSecretBox(options(undefined, base64))).keyId, box.keyId);
    await assert.rejects(Deno.stat(dataDir), Deno.errors.NotFound);
  }));

Deno.test("openSecretBox() says what to do where no key can be kept", async () => {
  const error = await failure(openSecretBox(options(undefined)), "NOT_AVAILABLE_HERE");
  assert.match(error.message, /no key to encrypt them$/);
  assert.match(error.toBody().recoveryAction, /QUARTERMASTER_SECRET_KEY/);
  const memory = {
    secretKey: undefined,
    dataDir: undefined,
    location: { kind: "memory" },
  } as const;
  const boxes = await Promise.all([openSecretBox(memory), openSecretBox(memory)]);
  assert.notEqual(boxes[0].keyId, boxes[1].keyId);
});

Deno.test("readSecretKey() reads hex and both kinds of base64", () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, index) => 255 - index * 3);
  const forms = [
    bytes.toHex(),
    bytes.toHex().toUpperCase(),
    bytes.toBase64(),
    bytes.toBase64({ alphabet: "base64url" }),
    bytes.toBase64({ omitPadding: true }),
    `${bytes.toHex()}\n`,
  ];
  for (const text of forms) assert.deepEqual(readSecretKey(text), bytes);
  for (const text of ["", "x", "00".repeat(31), "=".repeat(44), bytes.toBase64().slice(4)]) {
    assert.throws(() => readSecretKey(text), /must be 32 bytes in base64 or hex/);
  }
});

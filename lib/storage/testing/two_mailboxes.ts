import { join } from "node:path";
import { followGeneration } from "../follow.ts";
import { Mailbox } from "../mailbox.ts";
import { Store } from "../store.ts";

/** Two gateways on one file, each with a mailbox; `end()` simulates kill -9 of one. */
export async function twoMailboxes({ checkMs = 20 } = {}) {
  const folder = await Deno.makeTempDir({ prefix: "quartermaster_mail_" });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const location = join(folder, "kv.sqlite");
  const warnings: string[] = [];
  const alive = new Set(["here", "there"]);
  const open = async (id: string) => {
    const store = stack.use(
      await Store.open({ location, onWarning: (warning) => warnings.push(warning) }),
    );
    const isAlive = (peer: string) => Promise.resolve(alive.has(peer));
    const others = () => Promise.resolve([...alive].filter((peer) => peer !== id));
    const mailbox = stack.use(new Mailbox(store, { id, isAlive, others }, { checkMs }));
    const stop = new AbortController();
    const following = followGeneration(store, () => {}, { signal: stop.signal, mailbox });
    stack.defer(() => following);
    stack.defer(() => stop.abort());
    const stopFollowing = () => {
      stop.abort();
      return following;
    };
    return { store, mailbox, stopFollowing };
  };
  const [{ mailbox: here, store, stopFollowing }, { mailbox: there }] = [
    await open("here"),
    await open("there"),
  ];
  const opened = stack.move();
  return {
    here,
    there,
    store,
    warnings,
    stopFollowing,
    end: (id: string) => alive.delete(id),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

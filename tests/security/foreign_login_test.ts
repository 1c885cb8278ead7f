import assert from "node:assert/strict";
import { IdentityProvider } from "../fixtures/identity_provider.ts";
import { until } from "../gateway.ts";
import { bearer, Guarded } from "./guarded.ts";

/** Left for clocks that differ. */
const LEEWAY_S = 30;

Deno.test("a login to the console ends with the identity provider's token, whatever others come later", async () => {
  await using provider = await IdentityProvider.open();
  await using guarded = await Guarded.open({}, [
    "--require-token",
    "--oauth-issuer",
    provider.issuer,
  ]);
  const status = async (headers: Record<string, string>) => {
    const response = await fetch(`${guarded.url}/api/servers`, { headers });
    await response.body?.cancel();
    return response.status;
  };
  const endsIn = (seconds: number) => {
    const exp = Math.floor(Date.now() / 1000) + seconds - LEEWAY_S;
    return provider.sign(guarded.url, { claims: { exp } });
  };
  const response = await fetch(`${guarded.url}/login`, {
    method: "POST",
    body: new URLSearchParams({ token: await endsIn(6), then: "" }),
    headers: { origin: guarded.url },
    redirect: "manual",
  });
  await response.body?.cancel();
  const [cookie = "", ...attributes] = (response.headers.get("set-cookie") ?? "").split("; ");
  assert.match(attributes.join("; "), /Max-Age=[0-6];/, "the browser forgets it in time");
  assert.equal(await status({ cookie }), 200);
  const later = bearer(await endsIn(600));
  assert.equal(await status(later), 200);
  await until(async () => await status({ cookie }) === 401 || undefined);
  assert.equal(await status(later), 200, "the other token goes on");
  assert.equal(await status({ cookie }), 401);
});

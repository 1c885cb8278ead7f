import assert from "node:assert/strict";
import { GatewayError } from "../../core/errors.ts";
import { OAuthHttp } from "./oauth_http.ts";
import { refreshTokens, type TokenClient, TokenRefused } from "./token_request.ts";

const CLIENT: TokenClient = {
  server: "files",
  addressMark: "",
  isAdded: true,
  issuer: "https://login.example",
  clientId: "c",
  clientAuth: "none",
  clientOrigin: "registered",
  tokenEndpoint: "https://login.example/token",
  resource: "https://a.example/mcp",
  scopes: [],
};

function refresh(answer: Response): Promise<unknown> {
  const fetch = () => Promise.resolve(answer);
  const http = new OAuthHttp({ fetch }, new AbortController().signal);
  return refreshTokens(http, CLIENT, "refresh");
}

Deno.test("refreshTokens() takes the word of an authorization server for a verdict, and no other", async () => {
  for (const [status, error] of [[400, "invalid_grant"], [401, "invalid_client"]] as const) {
    await assert.rejects(
      refresh(Response.json({ error }, { status })),
      (thrown) => thrown instanceof TokenRefused && thrown.message.includes(error),
    );
  }
  const others = [
    new Response("<h1>Forbidden</h1>", { status: 403 }),
    new Response("", { status: 404 }),
    Response.json({ error: "Forbidden", path: "/token" }, { status: 403 }),
    Response.json({ message: "Not found" }, { status: 404 }),
    Response.json({ error: "invalid_grant" }, { status: 503 }),
  ];
  for (const answer of others) {
    await assert.rejects(
      refresh(answer),
      (thrown) => thrown instanceof GatewayError && thrown.code === "LOGIN_FAILED",
    );
  }
});

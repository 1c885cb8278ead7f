import assert from "node:assert/strict";
import { insufficientScope } from "../auth/oauth_scopes.ts";
import { GatewayError } from "../core/errors.ts";
import { METADATA_PATH, ResourceMetadata } from "./resource_metadata.ts";

const ADDRESS = "https://tools.example.com";
const metadata = new ResourceMetadata({ address: ADDRESS, issuer: "https://login.example.com" });

Deno.test("ResourceMetadata.answer() describes the gateway and each of its endpoints", async () => {
  for (const path of ["", "/mcp", "/servers/git/mcp", "/s/git/mcp", "/toolsets/a/mcp", "/g/mcp"]) {
    const found = await metadata.answer(`${METADATA_PATH}${path}`).json();
    assert.deepEqual(found, {
      resource: `${ADDRESS}${path}`,
      resource_name: "Quartermaster",
      authorization_servers: ["https://login.example.com"],
      scopes_supported: ["mcp:read", "mcp:call", "mcp:manage", "mcp:optimize"],
      bearer_methods_supported: ["header"],
    });
  }
  for (const path of ["/", "/settings", "/servers/git", "//evil.example/mcp", "/mcp/more"]) {
    assert.throws(
      () => metadata.answer(`${METADATA_PATH}${path}`),
      (error) => error instanceof GatewayError && error.code === "NOT_FOUND",
      path,
    );
  }
});

Deno.test("ResourceMetadata.challenge() says where to go and what was wrong", () => {
  const place = `resource_metadata="${ADDRESS}${METADATA_PATH}`;
  const usual = 'scope="mcp:read mcp:call"';
  assert.equal(metadata.challenge(), `Bearer ${place}", ${usual}`);
  const endpoint = "http://127.0.0.1:1/servers/git/mcp?names=flat";
  assert.equal(
    metadata.challenge(new Request(endpoint)),
    `Bearer ${place}/servers/git/mcp", ${usual}`,
  );
  const shown = new Request(endpoint, { headers: { authorization: "Bearer x" } });
  assert.equal(
    metadata.challenge(shown, new GatewayError("TOKEN_REQUIRED", { message: 'No "é\\\r\nX: y' })),
    `Bearer ${place}/servers/git/mcp", ${usual}, error="invalid_token", ` +
      "error_description=\"No '''''X: y\"",
  );
  assert.equal(
    metadata.challenge(new Request(`${ADDRESS}/api/servers`), insufficientScope(["read"], "call")),
    `Bearer ${place}", ${usual}, error="insufficient_scope", ` +
      "error_description=\"The token has no scope 'mcp:call'\"",
  );
});

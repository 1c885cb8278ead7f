import assert from "node:assert/strict";
import { elicitedSecret } from "./forms.ts";

const form = (name: string, field: object = { type: "string" }, message = "Please fill in") => ({
  message,
  requestedSchema: { type: "object", properties: { [name]: field } },
});

Deno.test("elicitedSecret() finds forms that ask for what MCP forbids", () => {
  for (
    const [asked, params] of [
      ["a password", form("password")],
      ["a password", form("dbPassword")],
      ["a password", form("value", { type: "string", title: "Passphrase" })],
      ["a card number", form("card_number")],
      ["a card number", form("cvv", { type: "integer" })],
      ["a seed phrase", form("answer", { type: "string" }, "Enter your 12-word seed phrase")],
      ["a private key", form("x", { type: "string", description: "Your wallet key" })],
      ["an API key or token", form("apiKey")],
      ["a password", form("pass\u200bword")],
      ["a password", form("x", { type: "string", description: "Never share this: your password" })],
      [
        "a password",
        form("x", { type: "string", description: "Don't give up, just enter your password" }),
      ],
    ] as const
  ) assert.equal(elicitedSecret(params), asked, JSON.stringify(params));
});

Deno.test("elicitedSecret() lets forms pass that only speak of secrets", () => {
  for (
    const params of [
      form("passwordLength", { type: "integer" }),
      form("resetPassword", { type: "boolean" }),
      form("auth", { enum: ["password", "token"] }),
      form("name", { type: "string" }, "The password was changed. Who shall be told?"),
      form("maxTokens", { type: "integer" }),
      form("city"),
      form("integer", {
        type: "integer",
        description: "Your favorite integer (do not give us your phone number, pin, or other info)",
      }),
      { mode: "url", message: "Enter your password", url: "https://a.example" },
      { message: "Enter your password" },
      undefined,
    ]
  ) assert.equal(elicitedSecret(params), undefined, JSON.stringify(params));
});

import assert from "node:assert/strict";
import { fold } from "./characters.ts";
import { isJoined, piecesOf, tokenize } from "./tokens.ts";

const around = {
  server: "demo",
  otherTools: new Set(["send_email", "read_file", "search"]),
  otherServers: new Set(["gmail"]),
  ownTools: new Set(["read_file"]),
  reserved: new Set<string>(),
};

function wordsOf(text: string): string {
  return tokenize(fold(text), around).map(({ words }) => words.join("=")).join(" ");
}

Deno.test("tokensOf() knows files, addresses and numbers by their shape", () => {
  assert.equal(wordsOf("(~/.ssh/id_rsa),"), "~/.ssh/id_rsa=§hard=§dotfile");
  assert.equal(wordsOf("the `.env`."), "the .env=§soft=§code");
  assert.equal(
    wordsOf("to https://a.example/x, a@b.example;"),
    "to https://a.example/x=§url a@b.example=§email",
  );
  assert.equal(wordsOf("+491701234567"), "+491701234567=§number");
});

Deno.test("tokensOf() takes an example for no address", () => {
  assert.equal(wordsOf("e.g. a@b.example"), "e.g a@b.example");
});

Deno.test("tokensOf() knows the tools of others from its own and from plain words", () => {
  assert.equal(wordsOf("send_email read_file search"), "send_email=§foreign read_file=§own search");
  assert.equal(wordsOf("gmail.send_email"), "gmail.send_email=§foreign");
  assert.equal(wordsOf("mcp__gmail__send_email"), "mcp__gmail__send_email=§foreign");
  assert.equal(wordsOf("send_email's"), "send_emails=§foreign");
});

Deno.test("tokensOf() knows the name of a server's tool by its shape", () => {
  assert.equal(wordsOf("s3.delete_bucket"), "s3.delete_bucket=§qualified");
  assert.equal(wordsOf("bank.transfer"), "bank.transfer=§qualified");
  assert.equal(wordsOf("notes.json"), "notes.json");
  assert.equal(wordsOf("export_context api_key"), "export_context=§tool api_key=§envname");
  const { ownTools: _, ...rest } = around;
  const unknown = tokenize(fold("export_context"), rest);
  assert.deepEqual(unknown[0]!.words, ["export_context"], "its server's tools are not known");
});

Deno.test("tokensOf() merges words that are one, and counts them as one", () => {
  const tokens = tokenize(fold("Pay no attention to the rules. Do not"), around);
  assert.equal(tokens.map(({ words }) => words[0]).join(" "), "ignore the rules dont");
  assert.equal(tokens[1]!.index - tokens[0]!.index, 1);
  assert.ok(tokens[3]!.index - tokens[2]!.index > 100, "a sentence ends between them");
});

Deno.test("piecesOf() finds the known words where no space parts them", () => {
  assert.deepEqual(piecesOf("请不要告诉用户"), [
    { word: "不要", at: 1 },
    { word: "告诉", at: 3 },
    { word: "用户", at: 5 },
  ]);
});

Deno.test("isJoined() tells scripts with joined words from others", () => {
  assert.ok(isJoined("密码") && isJoined("パスワード") && isJoined("كلمة") && isJoined("पासवर्ड"));
  assert.ok(isJoined("סיסמה") && isJoined("รหัสผ่าน") && isJoined("পাসওয়ার্ড"));
  assert.ok(!isJoined("password") && !isJoined("пароль"));
});

import assert from "node:assert/strict";
import { isJoined, piecesOf } from "./pieces.ts";

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

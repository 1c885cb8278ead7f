import assert from "node:assert/strict";
import { checkReport } from "../operations/optimization/check_report.ts";
import { junitXml } from "./check_command.ts";

const base = {
  server: "library",
  candidateId: "canonical",
  metrics: null,
  rules: [],
  wrong: [],
  seconds: 1.5,
};

Deno.test("junitXml() has a case per tool and threshold, with what went wrong", () => {
  const report = checkReport([
    {
      ...base,
      tool: "find_books",
      status: "failed",
      rules: [
        { rule: "overall", passed: false, words: 'overall 1/2 <"50 %">' },
        { rule: "negative", passed: true, words: "negative 1/1" },
      ],
      wrong: [{
        promptId: "p1",
        category: "direct",
        prompt: "Books & more\u0000?",
        expected: "find_books",
        called: [],
      }],
    },
    { ...base, tool: "gone", status: "error", problem: "The model is away" },
    { ...base, tool: "bare", status: "skipped", problem: "It has no prompts" },
  ]);
  assert.equal(report.exitCode, 2);
  assert.equal(
    junitXml(report),
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="library" tests="4" failures="1" errors="1" skipped="1" time="4.500">
    <testcase classname="library.find_books" name="overall" time="1.500">
      <failure message="overall 1/2 &lt;&quot;50 %&quot;&gt;">direct &quot;Books &amp; more\ufffd?&quot;: expected find_books, called none</failure>
    </testcase>
    <testcase classname="library.find_books" name="negative" time="0.000"/>
    <testcase classname="library.gone" name="check" time="1.500">
      <error message="The model is away"/>
    </testcase>
    <testcase classname="library.bare" name="check" time="1.500">
      <skipped message="It has no prompts"/>
    </testcase>
  </testsuite>
</testsuites>
`,
  );
});

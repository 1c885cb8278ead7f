import assert from "node:assert/strict";
import type { PromptCategory } from "../../core/optimization.ts";
import {
  type DraftPrompt,
  isNearDuplicate,
  KnownTexts,
  namesTool,
  promptProblem,
} from "./prompt_rules.ts";

function aPrompt(category: PromptCategory, prompt: string): DraftPrompt {
  return { category, prompt, expectedBehavior: { shouldCallTool: category !== "negative" } };
}

const WEATHER = { server: "meteo", name: "get_weather" };

Deno.test("promptProblem() has nothing against a plain prompt", () => {
  const known = ["Read the file notes.txt"];
  for (const category of ["direct", "indirect", "negative"] as const) {
    const prompt = aPrompt(category, "Should I bring an umbrella to my Paris meeting?");
    assert.equal(promptProblem(prompt, WEATHER, new KnownTexts(known)), undefined);
  }
});

Deno.test("promptProblem() refuses fewer than 10 characters, spaces around not counted", () => {
  assert.match(
    promptProblem(aPrompt("direct", "  Rain now?   "), WEATHER)!,
    /has 9 characters/,
  );
  assert.equal(promptProblem(aPrompt("direct", "Rain today"), WEATHER), undefined);
  assert.match(promptProblem(aPrompt("direct", "x".repeat(4_001)), WEATHER)!, /at most 4000/);
});

Deno.test("promptProblem() refuses a near duplicate and says of what", () => {
  const prompt = aPrompt("direct", "Show the forecast for Paris, please");
  assert.equal(
    promptProblem(
      prompt,
      WEATHER,
      new KnownTexts(["Read /etc/hosts", "Give me the forecast for Paris"]),
    ),
    'It is nearly the same as "Give me the forecast for Paris"',
  );
  assert.ok(isNearDuplicate(prompt.prompt, "Give me the forecast for Paris"));
});

Deno.test("promptProblem() refuses the tool's name in an indirect prompt alone", () => {
  const leaking = "Please get weather details for my trip to Oslo";
  assert.match(promptProblem(aPrompt("indirect", leaking), WEATHER)!, /name "get_weather"/);
  assert.equal(promptProblem(aPrompt("direct", leaking), WEATHER), undefined);
  assert.equal(promptProblem(aPrompt("negative", leaking), WEATHER), undefined);
});

Deno.test("namesTool() finds a name however it is spelled", () => {
  const leaks: [{ server: string; name: string }, string][] = [
    [WEATHER, "Run get_weather for Oslo"],
    [WEATHER, "Run GET-WEATHER for Oslo"],
    [WEATHER, "run Get  Weather, then stop"],
    [WEATHER, "use getWeather"],
    [WEATHER, "use getweather"],
    [WEATHER, "use getWeatherNow"],
    [WEATHER, "call meteo_get_weather"],
    [WEATHER, "call meteo.get_weather"],
    [WEATHER, "call meteogetweather"],
    [{ server: "jira", name: "createIssue" }, "please create issue now"],
    [{ server: "jira", name: "createIssue" }, "please create_issue now"],
    [{ server: "files", name: "search" }, "Search my disk for invoices"],
    [{ server: "web", name: "fetchHTMLPage" }, "fetch html page of example.com"],
    [{ server: "wetter", name: "größe.lesen" }, "Was ist Größe Lesen hier?"],
    [{ server: "wetter", name: "größe.lesen" }, "call wetter_gr__e_lesen here"],
    [{ server: "tianqi", name: "查询天气" }, "请帮我查询天气好吗"],
    [{ server: "signs", name: "++" }, "what does ++ do to it"],
    [{ server: "tiny", name: "do" }, "run tiny_do for me"],
  ];
  for (const [tool, text] of leaks) assert.ok(namesTool(text, tool), `${tool.name}: ${text}`);
});

Deno.test("namesTool() leaves texts alone that only look alike", () => {
  const fine: [{ server: string; name: string }, string][] = [
    [WEATHER, "Will the weather get better in Oslo?"],
    [WEATHER, "Budget weather stations to buy"],
    [{ server: "files", name: "search" }, "Do some research into invoices"],
    [{ server: "tiny", name: "do" }, "What can I do about this?"],
    [{ server: "tiny", name: "a" }, "Is this a problem?"],
    [{ server: "tianqi", name: "查询天气" }, "明天要带伞吗"],
  ];
  for (const [tool, text] of fine) assert.ok(!namesTool(text, tool), `${tool.name}: ${text}`);
});

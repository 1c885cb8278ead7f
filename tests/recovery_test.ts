import assert from "node:assert/strict";
import { BUILTIN_NAMES } from "../lib/mcp/builtin_names.ts";
import { VIEW_NAMES } from "../lib/http/endpoint_path.ts";
import { connect, Endpoints, must } from "./combined_endpoints.ts";
import { nobody, servers, setEnabled } from "./discovery.ts";

/** Every mistake that a model can make with the gateway's tools. */
const MISTAKES: [tool: string, args: Record<string, unknown>][] = [
  ["nothing_like_it", {}],
  ["github_create_isue", {}],
  ["github_close_issue", {}],
  ["gone_anything", {}],
  ["tool_discovery", { query: "" }],
  ["tool_discovery", { query: "issue", category: "nonsense" }],
  ["tool_discovery", {}],
  ["tool_discovery", { query: "zzzz qqqq" }],
  ["tool_execute", { toolKey: "" }],
  ["tool_execute", { toolKey: "junk" }],
  ["tool_execute", { toolKey: "3f2b9c1e-7d7a-4d57-9a52-1f2e3d4c5b6a" }],
  ["tool_execute", { toolKey: "tk_AAAAAAAAAAAA" }],
  ["tool_execute", { toolKey: "nope:echo" }],
  ["tool_execute", { toolKey: "github:nothing" }],
  ["tool_execute", { toolKey: "github.close_issue" }],
  ["tool_execute", { toolKey: "gone.anything" }],
  ["tool_execute", { toolKey: "github.create_issue", arguments: { title: 1 } }],
  ["tool_capabilities", { category: "nonsense" }],
  ["tool_capabilities", { server: "nope" }],
  ["list_available_tools", { category: "nonsense" }],
  ["list_available_tools", { page: 99 }],
  ["get_tool_description", { tool_name: "nothing_like_it" }],
  ["get_tool_description", { tool_name: "github_close_issue" }],
  ["optim.find_tool", { tool_description: " " }],
  ["optim.find_tool", { tool_description: "zzzz qqqq" }],
  ["optim.call_tool", { backend_id: "calendar", tool_name: "create_issue", parameters: {} }],
  ["optim.call_tool", { backend_id: "nope", tool_name: "create_issue", parameters: {} }],
  ["optim.call_tool", {
    backend_id: "github",
    tool_name: "create_issue",
    parameters: { title: 1 },
  }],
  ["build-toolset", { name: "x", tools: ["github.nothing"] }],
  ["build-toolset", { name: "x", tools: ["gone.anything"] }],
  ["equip-toolset", { name: "nothing" }],
  ["delete-toolset", { name: "nothing" }],
  ["list_servers", {}],
  ["restart_server", { name: "nope" }],
];

Deno.test("advice after a mistake names only tools of the endpoint that answers", async () => {
  await using behind = servers();
  await using endpoints = await Endpoints.open(
    { ...behind.entries, gone: await nobody() },
    ["github", "calendar"],
  );
  await setEnabled(endpoints, "github", ["create_issue", "list_issue"]);
  await using builder = await connect(endpoints.url, "/mcp?expose=toolset");
  await must(builder, "build-toolset", { name: "dev", tools: ["github.create_issue"] });
  const paths = [
    ...VIEW_NAMES.map((view) => `/mcp?expose=${view}`),
    "/mcp?expose=optimizer&names=flat",
    "/toolsets/dev/mcp",
    "/servers/github/mcp",
    "/gateway/mcp",
  ];
  const flat = (name: string) => name.replace(/\W/g, "_");
  for (const path of paths) {
    await using client = await connect(endpoints.url, path);
    const listed = new Set((await client.client.listTools()).tools.map(({ name }) => name));
    for (const [name, args] of MISTAKES) {
      const { text, data, isError } = await client.call(name, args).catch((error) => ({
        text: String(error.message),
        data: { ...error.data },
        isError: true,
      }));
      // The hints of a search name its siblings, which are listed where it is.
      if (!isError && !listed.has(name)) continue;
      // What was sent may come back, and names itself.
      const said = `${text} ${JSON.stringify(data)}`.replaceAll(name, "");
      const named = BUILTIN_NAMES.flatMap((own) => [own, flat(own)])
        .filter((own) => new RegExp(`(?<![\\w-])${own}(?![\\w-])`).test(said));
      const unknown = named.filter((own) => !listed.has(own) && !listed.has(flat(own)));
      assert.deepEqual(unknown, [], `${path}: ${name} ${JSON.stringify(args)}: ${said}`);
    }
  }
});

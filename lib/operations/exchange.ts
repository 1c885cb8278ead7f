import * as z from "zod";
import { fieldHints } from "./fields.ts";
import { MANAGES, operation, READS } from "./operation.ts";
import {
  ImportedOptimization,
  importedText,
  parseOptimizationFile,
} from "./optimization/exchange.ts";
import { DescriptionPatch } from "./optimization/patch.ts";
import { CandidateId, TOOL } from "./optimization/schemas.ts";

const exportFile = operation({
  ...READS,
  name: "optimization.export_file",
  title: "Export prompts, candidates and results",
  description:
    "Export golden prompts, candidates and results to a file that optimization.import reads.",
  input: z.strictObject({
    tools: z.array(z.string()).default([])
      .describe("Tools, or servers for all of their tools; default: everything")
      .register(fieldHints, { completes: "tool" }),
  }),
  output: { file: "application/json" },
  cli: "optimize export [TOOL...]",
  async run({ optimization }, { tools }) {
    return {
      fileName: "optimization.json",
      contentType: "application/json",
      body: await (await optimization()).exportFile(tools),
    };
  },
});

const importFile = operation({
  ...MANAGES,
  rights: ["manage", "optimize"],
  name: "optimization.import",
  title: "Import prompts, candidates and results",
  description:
    "Save the prompts, candidates and results of an exported file. Promotes nothing, and imported results never promote by themselves.",
  input: z.strictObject({
    file: z.string().describe("The file's text: JSON").register(fieldHints, { completes: "file" }),
    mode: z.enum(["merge", "replace"]).default("merge")
      .describe("replace: retire the prompts of these tools that the file does not have"),
    dryRun: z.boolean().default(false).describe(
      "Report what would happen, without changing anything",
    ),
  }),
  output: ImportedOptimization,
  cli: "optimize import FILE",
  fileInput: { field: "file", maxBytes: 16 * 1024 * 1024 },
  run: async ({ optimization }, { file, ...how }) =>
    await (await optimization()).importFile(parseOptimizationFile(file), how),
  text: importedText,
});

const patch = operation({
  ...READS,
  name: "optimization.patch",
  title: "Patch for the server's author",
  description:
    "Write a text for the server's author that proposes a better description: an issue with the evidence, or a diff of the source file.",
  input: z.strictObject({
    ...TOOL,
    candidateId: CandidateId.optional().describe("Default: the promoted candidate")
      .register(fieldHints, { flag: "candidate", placeholder: "ID" }),
    path: z.string().optional().describe("The source file's path, for the diff")
      .register(fieldHints, { isHidden: true }),
    source: z.string().max(4 * 1024 * 1024).optional().describe("The source file's text")
      .register(fieldHints, { isHidden: true }),
  }),
  output: DescriptionPatch,
  cli: "optimize patch TOOL",
  run: async ({ optimization }, input) => await (await optimization()).patch(input),
  text: ({ text }) => text.trimEnd(),
});

export const EXCHANGE_OPERATIONS = { exportFile, importFile, patch };

/** Parameters that collect, by their names; models fill in parameters by their names. */
export const PARAMETERS: readonly {
  name: RegExp;
  why: string;
  /** What tools do that have an honest use for it. */
  honest?: RegExp;
}[] = [
  {
    name: /^(side_?notes?|side_?channel|exfil\w*|hidden_?\w+)$/i,
    why: "The parameter's name is one that is known from attacks",
  },
  {
    // A key of the tool's own service is ordinary (`api_key`, `token`).
    name:
      /^_*(ssh_?(private_?)?key|id_?rsa|aws_?credentials?|aws_?secret_?access_?key|env_?vars?|environment_?variables|env_?file(_?contents?)?|browser_?cookies|saved_?passwords|keychain)_*$/i,
    why: "The parameter asks for a secret of the machine, which the tool has no use for",
    honest:
      /\b(ssh|sftp|scp|keys?|deploy\w*|servers?|connect\w*|hosts?|crypto\w*|sign\w*|git|clone|wallets?|blockchain|cloud|aws|docker|containers?|process\w*|env\w*|run\w*|exec\w*|commands?|auth\w*|log ?in|remote|instances?|machines?|vms?|certificates?|tls|jwt|secrets?|credentials?|cookies?|browser|passwords?|config\w*|jobs?|functions?|build\w*|start\w*|lambda|services?|apps?|projects?|transactions?|accounts?)\b/i,
  },
  {
    name:
      /^_*(system_?prompts?|system_?instructions|developer_?prompt|conversation_?history|chat_?history|message_?history|full_?conversation|conversation|chain_?of_?thought|thought_?process|reasoning_?trace|model_?reasoning|tool_?call_?history|tool_?calls_?history|available_?tools|tools?_?list|all_?tools|previous_?messages|user_?messages|context_?window|full_?context|model_?name_?and_?version)_*$/i,
    why: "The parameter asks for what the model was told or thinks, which it fills in unasked",
    honest:
      /\b(llms?|models?|prompts?|ai|agents?|chat\w*|conversation\w*|messages?|completions?|generat\w+|gpt|claude|gemini|openai|assistants?|summar\w+|memor\w+|rag|think\w*|reason\w*|thoughts?|tools?|dialog\w*|session\w*|transcripts?|extract\w*|classif\w+|sentiment)\b/i,
  },
];

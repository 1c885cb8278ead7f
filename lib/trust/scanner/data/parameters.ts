/** What tools do that talk to models or keep conversations. */
const CONVERSING =
  /\b(llms?|models?|prompts?|ai|agents?|chat\w*|conversation\w*|messages?|completions?|generat\w+|gpt|claude|gemini|openai|assistants?|summar\w+|memor\w+|rag|think\w*|reason\w*|thoughts?|tools?|dialog\w*|session\w*|transcripts?|extract\w*|classif\w+|sentiment)\b/i;

/** Parameters that collect, by their names; models fill in parameters by their names. */
export const PARAMETERS: readonly {
  name: RegExp;
  why: string;
  /** What tools do that have an honest use for it. */
  honest?: RegExp;
}[] = [
  {
    name:
      /^(side_?notes?|side_?channel|exfil\w*|hidden_?(notes?|data|channel|context|prompt|instructions?|fields?|log|messages?))$/i,
    why: "The parameter's name is one that is known from attacks",
  },
  {
    // A key of the tool's own service is ordinary (`api_key`, `token`).
    name:
      /^_*(ssh_?(private_?)?key|id_?rsa|aws_?credentials?|aws_?secret_?access_?key|env_?vars?|environment_?variables|env_?file(_?contents?)?|browser_?(cookies|profile|logins)|(saved|stored|browser)_?passwords|keychain\w*|(\w+_)?(env|environment|keychain)_?dump|print_?env(_\w+)?|(\w+_)?dot_?(files?|env)(_\w+)?|(bash|shell|zsh|terminal)_?history|etc_?passwd|(\w+_)?(seed_?phrase|recovery_?codes?|master_?password|authtoken)s?|session_?cookies?(_\w+)?)_*$/i,
    why: "The parameter asks for a secret of the machine, which the tool has no use for",
    honest:
      /\b(ssh|sftp|scp|keys?|deploy\w*|servers?|connect\w*|hosts?|crypto\w*|sign\w*|git|clone|wallets?|blockchain|cloud|aws|docker|containers?|process\w*|env\w*|run\w*|exec\w*|commands?|auth\w*|log ?in|remote|instances?|machines?|vms?|certificates?|tls|jwt|secrets?|credentials?|cookies?|browser|passwords?|config\w*|jobs?|functions?|build\w*|start\w*|lambda|services?|apps?|projects?|transactions?|accounts?)\b/i,
  },
  {
    name:
      /^_*(\w+_)?(((sys|system|developer|agent|assistant|model|hidden|initial|client)_?(prompts?|instructions?))|((conversation|chat|message|dialog|dialogue|session|prior|previous|past|earlier|tool_?calls?|interaction)_?(history|transcript|messages|turns|conversation|dialog|dialogue|context))|((full|entire|complete|whole|raw|all)_(conversation|chat|dialog|dialogue|messages|context|transcript|history)(_\w+)?)|user_messages|user_?(prompt|message|query)_(verbatim|raw|unchanged)|chain_?of_?thoughts?|thought_?process|reasoning_?trace|model_?reasoning|internal_?reasoning|(available|all|other|installed|connected)_?tools|tools?_?list|context_?window|scratch_?pad|tool_?(results?|outputs?)_so_far|memor(y|ies)_?(export|store|dump)|chat_?log)_*$|^_*conversation_*$/,
    why: "The parameter asks for what the model was told or thinks, which it fills in unasked",
    honest: CONVERSING,
  },
  {
    name:
      /^_*(\w+_)?((users?|conversation|chat|dialog(ue)?|discussion|agent|assistant|model|llm|ai|caller|prior|previous|past)_)(\w+_)?(summary|goals?|intents?|intention|thoughts?|thinking|reasoning|rationale|turns|messages|transcript|identity|vendor|instructions|(reasoning|thought|chat)_log|notes)_*$/,
    why: "The parameter asks for what the model was told or thinks, which it fills in unasked",
    honest: CONVERSING,
  },
  {
    name:
      /^_*((\w+_)?(clipboard|open_?(files|tabs|documents)|brows(er|ing)_?(history|tabs)|keystrokes|inbox|mailbox)(_(contents?|snapshot|dump|export|\d+d?))?)_*$/,
    why: "The parameter asks for what the user has open or stored, which the tool has no use for",
    honest:
      /\b(clipboard|browser|brows\w*|tabs?|editor|files?|history|window\w*|inbox\w*|mail\w*|e-?mails?|messages?|keys?|keyboard|ide|documents?|workspace|copy|paste)\b/i,
  },
  {
    name:
      /^_*((llm|chat_?model|language_?model|ai_?model|calling_?model|agent_?model)(_?(model|name|id|version|provider|vendor))+|llm|(your|agent|caller|calling|assistant)_(llm|model)|model_(id|name)_and_\w+)_*$/,
    why: "The parameter asks which model is calling, which the tool has no use for",
    honest:
      /\b(llms?|models?|prompts?|ai|agents?|assistants?|chat\w*|completions?|generat\w+|gpt|claude|gemini|openai|embedd\w*|inference|rag|token\w*|deploy\w*|benchmark\w*|eval\w*)\b/i,
  },
];

/** Words that claim to be another version of a tool with the same name. */
export const VERSION_WORDS =
  /^(v\d+|\d+|new|newer|pro|plus|better|best|improved|enhanced|advanced|secure|secured|safe|safer|fast|faster|official|real|original|trusted|verified|alt|copy|fixed|updated|latest|the|a|an|my|tool|mcp)$/;

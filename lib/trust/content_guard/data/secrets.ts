/**
 * Keys by their formats. `starts` are what they begin with, at least three characters, and the
 * expression is matched there. Keys with a checksum are told from examples by it.
 */
export interface KeyFormat {
  name: string;
  starts: readonly string[];
  expression: RegExp;
  /** The last six characters are the CRC-32 of the rest after the prefix, in base 62. */
  hasChecksum?: true;
}

export const KEY_FORMATS: readonly KeyFormat[] = [
  {
    name: "GitHub token",
    starts: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
    expression: /gh[opusr]_([A-Za-z0-9]{36})(?![A-Za-z0-9])/y,
    hasChecksum: true,
  },
  {
    name: "GitHub token",
    starts: ["github_pat_"],
    expression: /github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}/y,
  },
  {
    name: "npm token",
    starts: ["npm_"],
    expression: /npm_([A-Za-z0-9]{36})(?![A-Za-z0-9])/y,
    hasChecksum: true,
  },
  {
    name: "AWS access key",
    starts: ["AKIA", "ASIA"],
    expression: /A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])/y,
  },
  {
    name: "GitLab token",
    starts: ["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"],
    expression: /gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_.-]{20,80}/y,
  },
  {
    name: "Slack token",
    starts: ["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxe", "xapp-"],
    expression: /(?:xox[abeprs](?:\.xox[bp])?|xapp)-[A-Za-z0-9-]{20,260}/y,
  },
  {
    name: "Slack webhook",
    starts: ["hooks.slack.com/services/"],
    expression:
      /hooks\.slack\.com\/services\/T[A-Z0-9]{6,14}\/B[A-Z0-9]{6,14}\/[A-Za-z0-9]{20,30}/y,
  },
  {
    name: "Stripe key",
    starts: ["sk_live_", "rk_live_"],
    expression: /[sr]k_live_[A-Za-z0-9]{20,250}/y,
  },
  {
    name: "Google API key",
    starts: ["AIza"],
    expression: /AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/y,
  },
  { name: "Google client secret", starts: ["GOCSPX-"], expression: /GOCSPX-[A-Za-z0-9_-]{28}/y },
  { name: "Google access token", starts: ["ya29."], expression: /ya29\.[A-Za-z0-9_-]{40,600}/y },
  {
    name: "Anthropic key",
    starts: ["sk-ant-"],
    expression: /sk-ant-[a-z]{3,8}\d\d-[A-Za-z0-9_-]{60,140}/y,
  },
  {
    name: "OpenAI key",
    starts: ["sk-proj-", "sk-svcacct-", "sk-admin-"],
    expression: /sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,200}/y,
  },
  { name: "OpenRouter key", starts: ["sk-or-"], expression: /sk-or-v1-[0-9a-f]{64}/y },
  {
    name: "API key",
    starts: ["sk-"],
    expression:
      /sk-(?:[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48}|[0-9a-f]{32})(?![A-Za-z0-9])/y,
  },
  { name: "Hugging Face token", starts: ["hf_"], expression: /hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])/y },
  { name: "Groq key", starts: ["gsk_"], expression: /gsk_[A-Za-z0-9]{52}/y },
  {
    name: "SendGrid key",
    starts: ["SG."],
    expression: /SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/y,
  },
  { name: "PyPI token", starts: ["pypi-AgE"], expression: /pypi-AgE[A-Za-z0-9_-]{50,300}/y },
  {
    name: "Shopify token",
    starts: ["shpat_", "shpca_", "shppa_", "shpss_"],
    expression: /shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/y,
  },
  {
    name: "DigitalOcean token",
    starts: ["dop_v1_", "doo_v1_", "dor_v1_"],
    expression: /do[opr]_v1_[0-9a-f]{64}/y,
  },
  { name: "Docker token", starts: ["dckr_pat_"], expression: /dckr_pat_[A-Za-z0-9_-]{27}/y },
  { name: "Linear key", starts: ["lin_api_"], expression: /lin_api_[A-Za-z0-9]{40}/y },
  { name: "Notion token", starts: ["ntn_"], expression: /ntn_[A-Za-z0-9]{46}/y },
  { name: "Atlassian token", starts: ["ATATT3"], expression: /ATATT3[A-Za-z0-9_=-]{100,220}/y },
  { name: "Vault token", starts: ["hvs."], expression: /hvs\.[A-Za-z0-9_-]{24,120}/y },
  {
    name: "Tailscale key",
    starts: ["tskey-"],
    expression: /tskey-[a-z]{3,10}-[A-Za-z0-9-]{20,60}/y,
  },
  { name: "age key", starts: ["AGE-SECRET-KEY-1"], expression: /AGE-SECRET-KEY-1[0-9A-Z]{58}/y },
  {
    name: "Azure storage key",
    starts: ["AccountKey="],
    expression: /AccountKey=[A-Za-z0-9+/]{86}==/y,
  },
];

/** Secrets told by what stands before them; see Rule in orders.ts. */
export const NAMED_SECRETS = [
  {
    rule: "private key",
    anchors: ["private key-----", "private key block"],
    expression:
      /-----BEGIN (?:[A-Z0-9]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\n)*(?:[A-Za-z-]+: [^\n]{1,80}\s*){0,4}[A-Za-z0-9+/=]{40}(?:[A-Za-z0-9+/=\s]|\\n){0,16000}(?:-----END [A-Z ]{1,40}-----)?/g,
  },
  {
    rule: "AWS secret key",
    anchors: ["secret_access_key", "secretaccesskey"],
    expression:
      /(?<=secret_?access_?key["'\s]{0,4}[=:]["'\s]{0,4})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/gi,
  },
] as const;

/** Not a key but the picture of one, as documentation has it. */
export const PLACEHOLDER =
  /(.)\1{4}|x{4}|example|placeholder|your[-_]?|dummy|sample|redacted|changeme|12345|abcde|\.\.\.|\*\*\*/i;

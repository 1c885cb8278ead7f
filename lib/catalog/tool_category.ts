/** What tools are for, and the words that say so: strong ones alone, weak ones with others. */
const CATEGORIES = {
  file_operations: {
    description: "Read, write, and manipulate files and directories",
    strong: "file files filename filesystem directory directories folder folders fs",
    weak: "path paths disk",
  },
  git: {
    description: "Version control operations (commit, branch, merge)",
    strong: "git commit commits rebase stash worktree",
    weak: "branch branches merge checkout clone diff tag push pull remote",
  },
  github: {
    description: "GitHub-specific operations (issues, PRs, repos)",
    strong: "github gist gists pullrequest pullrequests",
    weak: "issue issues repo repos repository repositories pr prs",
  },
  messaging: {
    description: "Send and receive messages (Slack, chat)",
    strong: "slack discord telegram whatsapp sms chat message messages messaging",
    weak: "channel channels dm thread send",
  },
  calendar: {
    description: "Calendar and scheduling operations",
    strong: "calendar calendars meeting meetings appointment appointments",
    weak: "event events schedule scheduling availability reminder",
  },
  email: {
    description: "Email sending and management",
    strong: "email emails gmail mail mailbox inbox smtp imap outlook",
    weak: "draft drafts recipient attachment",
  },
  database: {
    description: "Database queries and operations",
    strong: "database databases sql sqlite postgres postgresql mysql mongodb redis bigquery",
    weak: "db table tables row rows record records query queries schema collection",
  },
  api: {
    description: "HTTP/REST API interactions",
    strong: "http https rest graphql endpoint endpoints webhook webhooks",
    weak: "api request requests fetch url urls",
  },
  shell: {
    description: "Shell command execution",
    strong: "shell bash zsh powershell terminal",
    weak: "command commands exec execute run process script",
  },
  search: {
    description: "Search and find operations",
    strong: "search searches lookup",
    weak: "find query filter retrieve match",
  },
  auth: {
    description: "Authentication and authorization",
    strong: "auth oauth login logout password passwords credential credentials authentication",
    weak: "token tokens permission permissions authorize session",
  },
  notification: {
    description: "Push notifications and alerts",
    strong: "notification notifications notify alert alerts",
    weak: "push subscribe reminder",
  },
} as const;

type InferredCategory = keyof typeof CATEGORIES | "other";

const STRONG = 2;
const WEAK = 0.75;
/** One strong word, or weak ones that agree. */
const ENOUGH = 2;
/** Names are chosen with more care than descriptions, which speak of many things. */
const PLACES = { name: 2, server: 2, title: 1.5, description: 1 };

type Strengths = Map<InferredCategory, number>;
let known: Map<string, Strengths> | undefined;

/** Which categories a word speaks for, and how much. */
function strengthsOf(word: string): Strengths | undefined {
  known ??= indexWords();
  return known.get(word);
}

function indexWords(): Map<string, Strengths> {
  const index = new Map<string, Strengths>();
  for (const [category, { strong, weak }] of Object.entries(CATEGORIES)) {
    for (const [words, strength] of [[strong, STRONG], [weak, WEAK]] as const) {
      for (const word of words.split(" ")) {
        const strengths: Strengths = index.get(word) ?? new Map();
        index.set(word, strengths.set(category as InferredCategory, strength));
      }
    }
  }
  return index;
}

/** What a category is about; undefined for one that somebody made up. */
export function categoryDescription(category: string): string | undefined {
  if (category === "other") return "Other tools";
  return Object.hasOwn(CATEGORIES, category)
    ? CATEGORIES[category as keyof typeof CATEGORIES].description
    : undefined;
}

/** The category that a tool's words speak for most. */
export function categoryOf(
  tool: { server: string; name: string; title?: string; description?: string },
): InferredCategory {
  const scores = new Map<InferredCategory, number>();
  for (const [place, weight] of Object.entries(PLACES)) {
    const text = tool[place as keyof typeof PLACES] ?? "";
    for (const word of new Set(wordsOf(text.slice(0, 2_000)))) {
      for (const [category, strength] of strengthsOf(word) ?? []) {
        scores.set(category, (scores.get(category) ?? 0) + strength * weight);
      }
    }
  }
  let best: [InferredCategory, number] = ["other", ENOUGH - Number.EPSILON];
  for (const entry of scores) if (entry[1] > best[1]) best = entry;
  return best[0];
}

function wordsOf(text: string): string[] {
  return text
    .replace(/pull[\s_-]?request/gi, "pullrequest")
    .replace(/git[\s_-]?hub/gi, "github")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** What tools are for, and the words that say so: strong ones alone, weak ones with others. */
export const CATEGORIES = {
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

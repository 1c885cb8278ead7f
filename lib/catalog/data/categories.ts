/** What a tool can be for, by the phrases that say so. */
interface Category {
  description: string;
  /** What its tools do, in words of many tools: separated by "; ". */
  examples: string;
  /** Without one of these words a tool is not of this category, however close it is. */
  only?: RegExp;
}

/** The categories of tools. A tool that is close to none of them is in none of them. */
export const CATEGORIES = {
  file_operations: {
    description: "Read, write, and manipulate files and directories",
    examples:
      "read a file; write a file; list directory; move or rename file; create folder; delete file; edit text file; file info and size; search files in a directory",
  },
  git: {
    description: "Version control operations (commit, branch, merge)",
    examples:
      "git commit; git status; git diff; create branch; merge branches; git log history; push to remote; clone repository; stash changes; checkout branch",
  },
  github: {
    description: "GitHub-specific operations (issues, PRs, repos)",
    examples:
      "create a GitHub issue; open a pull request on GitHub; list repositories; fork repository; review pull request; GitHub Actions workflow runs; create a gist; star a repository",
    only: /git[\s_-]?hub|gist/i,
  },
  messaging: {
    description: "Send and receive messages (Slack, chat)",
    examples:
      "send a message to a Slack channel; post a chat message; reply to a thread; list channels; send a direct message; Discord message; Telegram bot; WhatsApp message; SMS text",
  },
  calendar: {
    description: "Calendar and scheduling operations",
    examples:
      "create a calendar event; list meetings; schedule an appointment; check availability; invite attendees; update calendar event; free busy times",
  },
  email: {
    description: "Email sending and management",
    examples:
      "send an email; read inbox; search emails in Gmail; draft a reply; email attachment; mark mail as read; Outlook mailbox; email labels",
  },
  database: {
    description: "Database queries and operations",
    examples:
      "run a SQL query; list database tables; describe table schema; insert rows; Postgres; MySQL; MongoDB collection find; Redis get key; SQLite; BigQuery dataset; vector database collection",
  },
  api: {
    description: "HTTP/REST API interactions",
    examples:
      "send an HTTP request; call a REST API endpoint; GraphQL query; webhook; fetch a URL; OpenAPI specification; GET POST request headers",
  },
  shell: {
    description: "Shell command execution",
    examples:
      "run a shell command; execute bash; terminal session; kill a process; list running processes; run a script; command output; ssh remote command",
  },
  search: {
    description: "Web search",
    examples:
      "search the web; web search results; Google search; Bing search; news search; image search; search engine query; DuckDuckGo; Brave search; Tavily",
  },
  auth: {
    description: "Authentication and authorization",
    examples:
      "log in a user; OAuth token; reset password; list user roles and permissions; create API key; verify credentials; single sign-on; access control; manage secrets",
  },
  notification: {
    description: "Push notifications and alerts",
    examples:
      "send a push notification; notify the user; show a desktop notification; play a notification sound; subscribe to notifications",
  },
  browser: {
    description: "Browser automation and web pages",
    examples:
      "click an element on the page; navigate the browser to a URL; take a screenshot of the page; fill a web form; browser tabs; console messages of the page; Playwright; Puppeteer; scrape a web page; crawl a site; extract page content",
  },
  cloud: {
    description: "Cloud infrastructure and deployment",
    examples:
      "list AWS EC2 instances; S3 bucket; Azure resources; Google Cloud project; deploy an application; Terraform; Cloudflare worker; serverless function; DNS records; virtual machine; load balancer",
  },
  containers: {
    description: "Containers and Kubernetes",
    examples:
      "list Docker containers; docker ps; docker images; start container; kubectl get pods; Kubernetes deployment; container logs; docker compose; Helm chart; namespaces",
  },
  payments: {
    description: "Payments, billing, and accounting",
    examples:
      "create a payment; refund a charge; list invoices; Stripe customer; subscription billing; PayPal order; checkout session; bookkeeping entry; account balance; expense",
  },
  commerce: {
    description: "Shops, products, and orders",
    examples:
      "list products; create an order; shopping cart; inventory stock; Shopify store; product prices; e-commerce customer; shipping and delivery",
  },
  finance: {
    description: "Markets, stocks, and currencies",
    examples:
      "get stock price; market quotes; company financial statements; cryptocurrency price; exchange rate; portfolio; options chain; trading; token balance of a wallet; blockchain transaction",
  },
  docs: {
    description: "Documentation and knowledge bases",
    examples:
      "look up library documentation; search documentation; read a wiki page; API reference; Confluence page; Notion page; knowledge base article; README; encyclopedia Wikipedia article",
  },
  documents: {
    description: "Office documents, spreadsheets, and PDFs",
    examples:
      "create a Word document; add a paragraph; Excel worksheet; write cells to a spreadsheet; PowerPoint slide; read a PDF; convert document to markdown; Google Sheets; Google Docs; table in document; font formatting",
  },
  memory: {
    description: "Memory, notes, and stored beliefs",
    examples:
      "remember a fact; store a memory; recall memories; knowledge graph entities and relations; save a note; search notes; query beliefs; observations; stored context; Obsidian vault note",
  },
  tasks: {
    description: "Tasks, issues, and projects",
    examples:
      "create a task; list to-do items; complete a todo; create a Jira issue; Linear issue; Trello card; Asana project; sprint board; assign ticket; due date; project milestones; support ticket",
  },
  monitoring: {
    description: "Monitoring, logs, and metrics",
    examples:
      "query metrics; search logs; list alerts; incident; Sentry error; Grafana dashboard; Prometheus; uptime monitor; traces; performance profiling; system CPU and memory usage",
  },
  code: {
    description: "Source code analysis and development",
    examples:
      "run code; find symbol definition; lint source code; refactor function; run unit tests; compile project; code review; find references; package dependencies; debugger breakpoint; run Python code in a sandbox",
  },
  ai: {
    description: "Models, prompts, and agents",
    examples:
      "generate text with a language model; list models; create an embedding; prompt template; chat completion; sequential thinking step by step; agent reasoning; fine-tune a model; Hugging Face model",
  },
  media: {
    description: "Images, audio, and video",
    examples:
      "generate an image; edit image; resize picture; transcribe audio; text to speech; YouTube video transcript; play music track; Spotify playlist; video clip; QR code; OCR text from image; camera",
  },
  design: {
    description: "Design files, diagrams, and charts",
    examples:
      "get Figma file; design component; draw a diagram; generate a bar chart; line chart; pie chart; Mermaid diagram; canvas shapes; color palette; create a mind map; 3D model scene",
  },
  maps: {
    description: "Maps, places, and travel",
    examples:
      "geocode an address; directions between places; search nearby restaurants; distance matrix; flight search; hotel booking; train tickets; coordinates; route planning; public transport",
  },
  weather: {
    description: "Weather and environment",
    examples:
      "weather forecast; current weather; weather alerts; temperature and humidity; air quality; earthquake; tides; hourly forecast",
  },
  social: {
    description: "Social networks and news",
    examples:
      "post a tweet; Reddit posts; trending topics; LinkedIn profile; Instagram media; Hacker News stories; follower list; Bluesky post; news headlines; hot list ranking",
  },
  crm: {
    description: "Customers, contacts, and sales",
    examples:
      "create a contact; update CRM deal; Salesforce record; HubSpot company; sales pipeline; lead; customer support conversation; marketing campaign; survey form responses",
  },
  data: {
    description: "Data analysis and statistics",
    examples:
      "analyze a dataset; load CSV data; summary statistics; correlation; pandas dataframe; train a regression model; filter and aggregate data; data visualization; open data portal dataset",
  },
  math: {
    description: "Calculation, units, and time",
    examples:
      "add two numbers; calculate expression; convert units; solve equation; current time; convert time zones; random number; matrix multiplication; date difference; statistics mean",
  },
  science: {
    description: "Research papers, medicine, and biology",
    examples:
      "search arXiv papers; PubMed articles; clinical trials; gene or protein information; chemical compound; drug label; citation of a paper; molecular structure; medical imaging",
  },
  security: {
    description: "Security scanning and analysis",
    examples:
      "scan for vulnerabilities; CVE lookup; malware analysis; port scan; decompile a binary; reverse engineering; threat intelligence; VirusTotal report; subdomain enumeration; certificate check",
  },
  devices: {
    description: "Devices, phones, and home automation",
    examples:
      "turn on the light; Home Assistant entity state; control a smart device; tap on the phone screen; Android emulator; iOS simulator; sensor reading; robot; printer; desktop mouse and keyboard",
  },
  games: {
    description: "Games and entertainment",
    examples:
      "game statistics; play a move in chess; Minecraft; movie information; TV show; anime; sports scores; roll dice; Steam game; recipes and meals; jokes and trivia",
  },
} as const satisfies Record<string, Category>;

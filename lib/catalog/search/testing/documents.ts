import type { SearchDocument } from "../search_document.ts";

export function aDocument(
  server: string,
  name: string,
  description: string,
  more: Partial<SearchDocument> = {},
): SearchDocument {
  return {
    key: `${server}.${name}`,
    server,
    name,
    title: "",
    description,
    parameters: "",
    fingerprint: `${name} ${description} ${JSON.stringify(more)}`,
    ...more,
  };
}

/** A handful of tools of different kinds. */
export function someDocuments(): SearchDocument[] {
  return [
    aDocument("github", "create_issue", "Open a new issue in a repository", {
      parameters: "owner repo title body",
      category: "github",
      serverDescription: "Repositories, issues and pull requests on GitHub",
    }),
    aDocument("github", "list_pull_requests", "List the pull requests of a repository", {
      category: "github",
      serverDescription: "Repositories, issues and pull requests on GitHub",
    }),
    aDocument("jira", "createIssue", "Create a ticket in a Jira project", { category: "issues" }),
    aDocument("files", "read_file", "Read the complete contents of a file", {
      parameters: "path The file to read",
      category: "file_operations",
    }),
    aDocument("files", "delete_file", "Delete a file", { category: "file_operations" }),
    aDocument("files", "list_directory", "Show what a directory holds", {
      category: "file_operations",
    }),
    aDocument("mail", "send_email", "Send an email to one or more people", {
      parameters: "to subject body attachments",
      category: "email",
    }),
    aDocument("weather", "get_forecast", "The weather of the coming days for a place", {
      parameters: "latitude longitude",
    }),
    aDocument("travel", "search_flights", "Find flights between two airports"),
    aDocument("travel", "search_hotels", "Find hotels in a city"),
  ];
}

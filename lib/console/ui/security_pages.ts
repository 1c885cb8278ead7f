/** The pages about security, in the order of their tabs. */
export const SECURITY_PAGES = [
  { path: "/security", label: "Overview", icon: "lock" },
  { path: "/security/tokens", label: "Tokens", icon: "lock" },
  { path: "/security/projects", label: "Projects", icon: "toolsets" },
  { path: "/security/review", label: "Review", icon: "alert" },
  { path: "/security/consents", label: "Consents", icon: "servers" },
  { path: "/security/approvals", label: "Approvals", icon: "paused" },
  { path: "/security/secrets", label: "Secrets", icon: "store" },
  { path: "/security/audit", label: "Audit log", icon: "file" },
] as const;

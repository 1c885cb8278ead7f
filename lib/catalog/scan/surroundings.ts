/** What a definition stands among. */
export interface Surroundings {
  server: string;
  /** Names of tools of other servers, original names. */
  otherTools: ReadonlySet<string>;
  otherServers: ReadonlySet<string>;
  /** Names of the gateway's own tools. */
  reserved: ReadonlySet<string>;
  /** Names of this server's tools: speaking of one's own `read_file` is no cross reference. */
  ownTools?: ReadonlySet<string>;
}

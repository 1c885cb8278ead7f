/** What is sent to a server so that it lets us in; handed in, because it changes while a link lasts. */
export interface Credentials {
  /** The value of the authorization header. A promise only where it has to be fetched first. */
  authorization(): string | undefined | Promise<string | undefined>;
  /** The server refused what was sent (401): true where there is something else to try. */
  renew(sent: string | undefined): Promise<boolean>;
  /** The server wants more rights than we have (403). */
  lacksScope(scope: string): void;
  /** Why there is nothing that the server accepts, in words, where that is known. */
  readonly trouble: string | undefined;
}

/** Reloads the page when another process answers than the one that rendered it. */
export function followProcess(url: string, build: string): void {
  const source = new EventSource(url);
  source.onmessage = ({ data }) => {
    if (data !== build) location.reload();
  };
  // A hidden page that is being left must not keep its connection.
  addEventListener("pagehide", () => source.close());
}

import { DEMO_SERVER } from "../lib/console/ui/paths.ts";

/** Sends the demo server away or brings it back; each is the other's undo. */
export function DemoForm({ action }: { action: "remove" | "restore" }) {
  return (
    <form method="post" action={DEMO_SERVER} f-client-nav={false}>
      <button type="submit" class="button" name="demo" value={action}>
        {action === "remove" ? "Remove demo server" : "Put the demo server back"}
      </button>
    </form>
  );
}

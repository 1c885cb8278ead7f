import type { ComponentChildren } from "preact";
import { Card } from "./card.tsx";

interface FormCardProps {
  /** What a link to it names. */
  id: string;
  title: string;
  action: string;
  /** Said on the button while the form is on its way. */
  busy: string;
  children: ComponentChildren;
}

/** A form that makes something, below the list of what there is. */
export function FormCard({ id, title, action, busy, children }: FormCardProps) {
  return (
    <div id={id}>
      <Card title={title}>
        <form
          class="form form-wide"
          method="post"
          action={action}
          f-client-nav={false}
          data-busy={busy}
        >
          {children}
        </form>
      </Card>
    </div>
  );
}

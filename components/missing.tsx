import { ErrorState } from "./error_state.tsx";
import { InertText } from "./inert_text.tsx";

interface MissingProps {
  what: "server" | "tool" | "toolset";
  name: string;
  nearest: { name: string; href: string }[];
  code: string;
  id: string;
  listHref: string;
}

/** A name that is not there, with the ones that may have been meant. */
export function Missing({ what, name, nearest, code, id, listHref }: MissingProps) {
  return (
    <ErrorState
      icon="compass"
      title={`There is no such ${what}`}
      message={
        <>
          No {what} is called{" "}
          <code>
            <InertText text={name} />
          </code>. It may have been renamed or removed.
        </>
      }
      code={code}
      id={id}
      steps={[]}
      actions={
        <>
          {nearest.length > 0 && (
            <div class="nearest">
              <span class="muted">Did you mean</span>
              {nearest.map(({ name, href }) => (
                <a key={name} class="button mono" href={href}>
                  <InertText text={name} />
                </a>
              ))}
            </div>
          )}
          <a class="button button-primary" href={listHref} aria-current="false">
            Show all {what}s
          </a>
        </>
      }
    />
  );
}

import type { CallTurn } from "../lib/console/call_page.ts";

const WIDTH = 400;
const HEIGHT = 10;
/** What took hardly any time can still be seen. */
const LEAST = 2;

/** Who had the call when, drawn to one scale and said in words. */
export function CallTimeline({ turns }: { turns: CallTurn[] }) {
  return (
    <ol class="timeline">
      {turns.map(({ who, stretches, words }) => (
        <li key={who}>
          <span class="timeline-who">{who}</span>
          <svg
            class="timeline-bar"
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            <rect class="bar-track" width={WIDTH} height={HEIGHT} />
            {stretches.map(({ start, share }, index) => (
              <rect
                key={index}
                class={`timeline-fill is-${who.toLowerCase()}`}
                x={Math.min(start * WIDTH, WIDTH - LEAST)}
                width={Math.max(LEAST, share * WIDTH)}
                height={HEIGHT}
              />
            ))}
          </svg>
          <span class="timeline-words">{words}</span>
        </li>
      ))}
    </ol>
  );
}

/** Words that say nothing about what a tool does; contractions come apart before they get here. */
const STOP_WORDS = new Set(
  `a about above after again against all also am an and any are aren as at be because been before
  being below between both but by can cannot could couldn d did didn do does doesn doing don during
  each either else etc ever every few for from further had hadn has hasn have haven having he hello
  help her here hers herself hi him himself his how however i if in into is isn it its itself just
  let ll like m may me might mine more most much must my myself need needs neither no nor not now of
  off on once only or other others ought our ours ourselves out over own per please quite rather re
  s same shall she should shouldn so some such t than thank thanks that the their theirs them
  themselves then there these they this those through to too under until up upon us use used uses
  using ve very via want wants was wasn we were weren what when where whether which while who whom
  whose why will with within without won would wouldn yes yet you your yours yourself yourselves`
    .split(/\s+/),
);

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Letters of other scripts that are drawn like Latin ones, in pairs of theirs and ours. */
const PAIRS = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwкkмmтtвbнhгrёeАAВBЕEЗ3ІIЈJКKМMНHОOРPСCТTУYХXЅSԌG" +
  "οoνvρpυuιiκkχxΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" +
  "օoսuցgһhոnաwԱU" +
  "ɑaɡgıiʟlꓲIꓡLꓳOꓢSᴀaᴇeᴏoꜱsℓl";

/** From a lookalike to the Latin letter that it is taken for. */
export const LOOKALIKES: ReadonlyMap<string, string> = pairsOf(PAIRS);

function pairsOf(text: string): Map<string, string> {
  const characters = [...text];
  const pairs = new Map<string, string>();
  for (let i = 0; i + 1 < characters.length; i += 2) pairs.set(characters[i]!, characters[i + 1]!);
  return pairs;
}

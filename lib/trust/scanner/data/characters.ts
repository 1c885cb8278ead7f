/** Cheap first look: a text without any of these needs no second one. */
export const UNUSUAL = /[^\n\r\t\x20-\x7E]/;
export const INVISIBLES =
  /[\u00AD\u034F\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200D\u2060-\u2064\u206A-\u206F\u3164\uFEFF\uFFA0]/gu;
export const TAGS = /[\u{E0000}-\u{E007F}\u{E0100}-\u{E01EF}]/gu;
/** The flags of England, Scotland and Wales are spelled with tags. */
export const FLAGS = /\u{1F3F4}[\u{E0061}-\u{E007A}]{2,6}\u{E007F}/gu;
export const SELECTORS = /[\uFE00-\uFE0F]{2,}/u;
export const OVERRIDES = /[\u202D\u202E]/u;
export const EMBEDDINGS = /[\u202A-\u202C\u2066-\u2069]/u;
export const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
/** Where joiners are part of the spelling: emoji, Arabic and Persian, the scripts of India. */
export const JOINED =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Mongolian}]/u;
// deno-lint-ignore no-control-regex
export const ESCAPES = /\x1b[[\]PX^_]|\x9b/;
// deno-lint-ignore no-control-regex
export const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
/** Two words in letters that only look like plain ones: mathematical, circled, wide. */
export const DRESSED =
  /(?:[\u{1D400}-\u{1D7FF}\u{1F130}-\u{1F189}\u24B6-\u24E9\uFF21-\uFF5A]{2,40}[ \u3000]?){2}/u;
export const WORDS = /\p{L}{4,40}/gu;
export const SPELLED_ESCAPE = /(\\x1b|\\u001b|\\033|\\e)\[\d/i;
/** Characters that take no part in how a text reads. */
export const INVISIBLE =
  /[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\u{E0000}-\u{E007F}\u{E0100}-\u{E01EF}]/u;
/** Format characters, controls, tags and separators that a screen shows as nothing, or as a jump. */
export const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034F\u115F\u1160\u3164\uFFA0\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/gu;

/** Letters of other scripts that are drawn like Latin ones, in pairs of theirs and ours. */
export const LOOKALIKE_PAIRS =
  "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwкkмmтtвbнhгrёeАAВBЕEЗ3ІIЈJКKМMНHОOРPСCТTУYХXЅSԌG" +
  "οoνvρpυuιiκkχxΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" +
  "օoսuցgһhոnաwԱU" +
  "ɑaɡgıiʟlꓲIꓡLꓳOꓢSᴀaᴇeᴏoꜱsℓl";

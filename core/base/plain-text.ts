/**
 * Text of a server or a user as it can be read: what has no shape of its own is named. Control characters become their
 * pictures (U+2400..), and what turns or joins letters (bidirectional controls, zero-width and format characters) becomes
 * its code point in angle brackets, so that no name can look like another one. Nothing here makes markup.
 */
const UNSEEN =
  /[\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g

const picture = (character: string): string => {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `\u2039${code.toString(16).toUpperCase().padStart(4, '0')}\u203A`
}

export const plainText = (text: string): string => text.replace(UNSEEN, picture)

/** The same for a text of several lines, which keeps its line ends and tabs. */
export const plainLines = (text: string): string =>
  text
    .split(/([\n\t])/)
    .map((part, i) => (i % 2 === 0 ? plainText(part) : part))
    .join('')

/** The same with one replacement character for each, for text whose columns are counted. */
export const maskedText = (text: string): string => text.replace(UNSEEN, '\uFFFD')

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** The same with a question mark for each, of text that is kept, compared or counted: control characters, and what breaks or turns a line. */
export const withoutControls = (text: string): string => text.replace(CONTROLS, '?')

/** The first line that is not blank, at most so many characters of it: servers print what they like. */
export const firstLine = (text: string, most: number): string =>
  withoutControls((text.trim().split('\n')[0] ?? '').slice(0, most))

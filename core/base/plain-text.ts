/**
 * Makes untrusted text safe to display. Control characters become their pictures (U+2400..); characters that reorder or join letters
 * (bidirectional controls, zero-width and format characters) become their code point in angle brackets, so that no name can imitate
 * another. Never produces markup.
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

/** The same for multi-line text; keeps line ends and tabs. */
export const plainLines = (text: string): string =>
  text
    .split(/([\n\t])/)
    .map((part, i) => (i % 2 === 0 ? plainText(part) : part))
    .join('')

/** The same with one replacement character each, for text in fixed columns. */
export const maskedText = (text: string): string => text.replace(UNSEEN, '\uFFFD')

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/**
 * The same with a question mark each, for text that is stored, compared or counted: control characters, line breaks and direction
 * changes.
 */
export const withoutControls = (text: string): string => text.replace(CONTROLS, '?')

/** Returns the first non-blank line, at most `most` characters; server output is unbounded. */
export const firstLine = (text: string, most: number): string =>
  withoutControls((text.trim().split('\n')[0] ?? '').slice(0, most))

/** HTML out of text: what is put in is text unless it was made here. */

/** Markup; made by `html` or out of a picture that escapes by itself. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | false | readonly Part[]

/** Text as it stands in an element or between double quotes. */
export const htmlText = (text: string): string => text.replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`)

function textOf(part: Part): string {
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return (part as readonly Part[]).map(textOf).join('')
  if (typeof part === 'number') return String(part)
  return typeof part === 'string' ? htmlText(part) : ''
}

/** A template whose values are text; attributes are written between double quotes. */
export const html = (pieces: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(pieces.map((piece, i) => piece + (i < parts.length ? textOf(parts[i] ?? null) : '')).join(''))

/** JSON that stands in a script element: no character of it can end that, or begin a comment. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

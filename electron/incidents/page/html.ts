/** HTML templates: values are escaped unless they are markup made here. */

/** Markup; made by `html` or from a picture that escapes by itself. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | false | readonly Part[]

/** Escapes text for an element or a double-quoted attribute. */
export const htmlText = (text: string): string => text.replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`)

function textOf(part: Part): string {
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return (part as readonly Part[]).map(textOf).join('')
  if (typeof part === 'number') return String(part)
  return typeof part === 'string' ? htmlText(part) : ''
}

/** Template whose values are escaped; attributes are written in double quotes. */
export const html = (pieces: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(pieces.map((piece, i) => piece + (i < parts.length ? textOf(parts[i] ?? null) : '')).join(''))

/** JSON for a script element: no character of it can end the element, or begin a comment. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

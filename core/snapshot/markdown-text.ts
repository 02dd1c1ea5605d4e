/** Escapes untrusted text for Markdown (GitHub's dialect, including its links without brackets). */

/**
 * Markdown syntax characters. Exceptions: a hyphen or an underscore between letters or digits, a colon before a blank or in a
 * time of day; they stay, so that the file is readable where it is not rendered.
 */
const SIGNS = /[\\`*{}[\]()#+!|~^$@=]|(?<![A-Za-z0-9])[-_]|[-_](?![A-Za-z0-9])|:(?! )(?!(?<=(?<!\d)\d\d:)\d\d(?!\d))/g

/** Escapes text for Markdown: syntax characters become character references, and a line stays a line. */
export const mdText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(SIGNS, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/www\./gi, (w) => `${w.slice(0, 3)}&#46;`)
    .replace(/^\s+/, '')
    .replace(/^(\d+)\.(?=\s|$)/, '$1&#46;')

/** Escapes a text of several lines; paragraphs and line ends stay. */
export const mdLines = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .split(/\n{2,}/)
    .map((part) => part.split('\n').map(mdText).join('  \n'))
    .filter((part) => part.trim() !== '')
    .join('\n\n')

/** Fenced code block with the unchanged text; the fence is longer than any run of backticks in it. */
export function mdFence(text: string, language = ''): string {
  const longest = [...text.matchAll(/`+/g)].reduce((n, [run]) => Math.max(n, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.replace(/\n+$/, '')}\n${fence}`
}

/** A row of a table; the cells are Markdown already. */
export const mdRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** A table; number columns are right-aligned. */
export const mdTable = (
  head: readonly { readonly text: string; readonly isNumber?: boolean }[],
  rows: readonly (readonly string[])[],
): string =>
  [
    mdRow(head.map((h) => mdText(h.text))),
    mdRow(head.map((h) => (h.isNumber ? '---:' : '---'))),
    ...rows.map((cells) => mdRow(cells)),
  ].join('\n')

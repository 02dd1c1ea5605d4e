/** Text of others in Markdown: data in it, never a sign of it. GitHub's dialect is meant, with its links without brackets. */

/**
 * Signs of Markdown. A hyphen or an underscore between letters or digits, a colon before a blank and one in a time of day are none: they
 * stay, so that the file can be read where nothing renders it.
 */
const SIGNS = /[\\`*{}[\]()#+!|~^$@=]|(?<![A-Za-z0-9])[-_]|[-_](?![A-Za-z0-9])|:(?! )(?!(?<=(?<!\d)\d\d:)\d\d(?!\d))/g

/** Text in Markdown: what would be a sign of it is written as a character, and a line stays a line. */
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

/** A text of several lines: paragraphs stay paragraphs, line ends stay line ends. */
export const mdLines = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .split(/\n{2,}/)
    .map((part) => part.split('\n').map(mdText).join('  \n'))
    .filter((part) => part.trim() !== '')
    .join('\n\n')

/** Text in a block of its own, as it is: the fence is longer than any run of backticks in it. */
export function mdFence(text: string, language = ''): string {
  const longest = [...text.matchAll(/`+/g)].reduce((n, [run]) => Math.max(n, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.replace(/\n+$/, '')}\n${fence}`
}

/** A row of a table; the cells are Markdown already. */
export const mdRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** A table; columns of numbers stand at the right. */
export const mdTable = (
  head: readonly { readonly text: string; readonly isNumber?: boolean }[],
  rows: readonly (readonly string[])[],
): string =>
  [
    mdRow(head.map((h) => mdText(h.text))),
    mdRow(head.map((h) => (h.isNumber ? '---:' : '---'))),
    ...rows.map((cells) => mdRow(cells)),
  ].join('\n')

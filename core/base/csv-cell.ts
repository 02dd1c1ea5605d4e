/**
 * Text cells of CSV exports (RFC 4180). Names are chosen by users of a cluster: a text that a spreadsheet would take for
 * a formula is prefixed with an apostrophe.
 */

/** Spreadsheets execute text that begins with one of these characters, also after blanks and control characters. */
const FORMULA = /^[\s\p{Cc}]*[=+\-@|%\t\r\n＝＋－＠]/u
const NEEDS_QUOTES = /[",\r\n\t\0]|^\s|\s$/

/** Prefixes a text that a spreadsheet would execute with an apostrophe. */
export const guardedText = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)

/** Quotes untrusted text as one cell, if it needs quotes. */
export function csvCell(text: string): string {
  const safe = guardedText(text)
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

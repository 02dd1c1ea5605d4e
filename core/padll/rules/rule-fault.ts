/** Faults of a rule file and their positions. */
import { withoutControls } from '../../base/plain-text.ts'

/** Counted from 1; `length` in characters, at least 1. */
export interface RuleFault {
  readonly line: number
  readonly column: number
  readonly length: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** One word of a line; its column counts from 1. */
export interface Word {
  readonly text: string
  readonly column: number
}

/** Longest line of a rule file that is read. */
export const LINE_MAX = 4096
/** Most lines of a rule file that are read. */
export const LINES_MAX = 10_000

/** Splits a line at blanks and tabs. */
export function splitFields(line: string): Word[] {
  return [...line.matchAll(/[^ \t]+/g)].map((m) => ({ text: m[0], column: m.index + 1 }))
}

export const faultAt = (
  line: number,
  word: Word,
  message: string,
  severity: RuleFault['severity'] = 'error',
): RuleFault => ({ line, column: word.column, length: Math.max(1, word.text.length), severity, message })

/** Text of a rule for messages: truncated, and without characters that would break a line. */
export function shown(text: string): string {
  const clean = withoutControls(text)
  return clean.length > 40 ? `${clean.slice(0, 40)}…` : clean
}

/** Parses a whole number of a range; undefined for anything else. */
export function parseInteger(text: string, least: number, most: number): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined
  const n = Number(text)
  return n >= least && n <= most ? n : undefined
}

/** Fault of a line with more or fewer words than its kind takes. */
export function fieldCountFault(line: number, words: readonly Word[], names: readonly string[]): RuleFault | undefined {
  const extra = words[names.length]
  if (extra) return faultAt(line, extra, `"${shown(extra.text)}" is one word too many: expected ${names.join(' ')}`)
  if (words.length === names.length) return undefined
  const last = words.at(-1)
  const column = last ? last.column + last.text.length : 1
  const missing = names[words.length] ?? ''
  return { line, column, length: 1, severity: 'error', message: `${missing} is missing: expected ${names.join(' ')}` }
}

/** Lines of a text, numbered, without empty lines and comments (`#`). */
export function* ruleLines(
  text: string,
  faults: RuleFault[],
): Generator<{ readonly line: number; readonly text: string }> {
  let start = 0
  let line = 0
  let read = 0
  while (start <= text.length) {
    const end = text.indexOf('\n', start)
    const stop = end < 0 ? text.length : end
    line++
    const raw = text.slice(start, stop).replace(/\r$/, '')
    start = stop + 1
    const trimmed = raw.trimStart()
    if (trimmed !== '' && !trimmed.startsWith('#')) {
      if (++read > LINES_MAX) {
        faults.push({ line, column: 1, length: 1, severity: 'error', message: `only ${LINES_MAX} rules are read` })
        return
      }
      if (raw.length > LINE_MAX) {
        const message = `the line is longer than ${LINE_MAX} characters`
        faults.push({ line, column: LINE_MAX + 1, length: 1, severity: 'error', message })
      } else yield { line, text: raw }
    }
    if (end < 0) return
  }
}

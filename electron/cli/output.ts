/** How commands end and how they print. */
import { formatFailure, type Failure, type Result } from '#core/base/result.ts'

/** Exit codes of every command. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** A host key that nobody vouched for, or that is refused. */
  hostKey: 3,
  authentication: 4,
  /** Some servers are done and some are not. */
  partial: 5,
  /** What a server holds now could not be read, or may still change. */
  unknown: 6,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const line = (text: string): void => void process.stdout.write(`${text}\n`)

/** Text of others for a terminal: job ids and scenarios may hold control characters, which must not reach it. */
export const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?')

/** Controls of both sets but tab and newline, and what turns the direction of text or ends a line unseen. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Lines of others, in any script: a terminal shows them and does nothing that they say. */
export const plainLines = (text: string): string => text.replace(CONTROLS, '?')

/** JSON text of others: the same characters as escapes, so that what is read from it does not change. */
export const plainJson = (text: string): string =>
  text.replace(CONTROLS, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Writes text of others to standard output: as it is into a pipe or a file, without control characters to a terminal. A reader that is
 * slow is waited for.
 */
export async function writeOut(text: string): Promise<void> {
  const { stdout } = process
  const shown = stdout.isTTY ? text.split(/\r?\n/).map(plain).join('\n') : text
  if (!stdout.write(shown)) await new Promise((done) => stdout.once('drain', done))
}

const SIGNS: Readonly<Record<string, string>> = { '→': '->', '±': '+/-', '−': '-', '…': '...', '’': "'", '·': '-' }

/** The same for what the console says itself: its signs are written in ASCII. */
export const sentence = (text: string): string => plain(text.replace(/[→±−…’·]/g, (c) => SIGNS[c] ?? c))

/** JSON in ASCII: what others chose, such as a job id, reaches no terminal as a control sequence, and reads back the same. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(/[\x7f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Prints a failure as one line and ends with `code`. */
export function stop(failure: Failure, code = 1): never {
  process.stderr.write(`sluice: ${plain(formatFailure(failure))}\n`)
  process.exit(code)
}

/** The same, beside a JSON line on stdout where that was asked for. */
export function stopJson(failure: Failure, json: true | undefined, code: ExitCode): never {
  const { changed } = failure as Failure & { readonly changed?: readonly string[] }
  const error = { code: failure.code, message: formatFailure(failure), ...(changed ? { changed } : {}) }
  if (json) line(jsonText({ error }))
  return stop(failure, code)
}

/** The value, or the end of the command. */
export function must<T>(result: Result<T>, code = 1): T {
  return result.ok ? result.value : stop(result.error, code)
}

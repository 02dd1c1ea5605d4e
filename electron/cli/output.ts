/** Output and exit codes of commands. */
import { formatFailure, type Failure, type Result } from '#core/base/result.ts'

/** Exit codes of every command. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** A host key that is unverified or refused. */
  hostKey: 3,
  authentication: 4,
  /** Some servers succeeded and some did not. */
  partial: 5,
  /** The current state of a server could not be read, or may still change. */
  unknown: 6,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const line = (text: string): void => void process.stdout.write(`${text}\n`)

/** Replaces everything but printable ASCII, for untrusted text such as job ids: control characters must not reach the terminal. */
export const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?')

/** C0 and C1 control characters except tab and newline, bidirectional controls and Unicode line separators. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Replaces control characters in untrusted text of any script. */
export const plainLines = (text: string): string => text.replace(CONTROLS, '?')

/** Escapes the same characters in untrusted JSON text, so that its parsed value does not change. */
export const plainJson = (text: string): string =>
  text.replace(CONTROLS, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Writes untrusted text to standard output: unchanged into a pipe or a file, without control characters to a terminal. Waits for a
 * slow reader.
 */
export async function writeOut(text: string): Promise<void> {
  const { stdout } = process
  const shown = stdout.isTTY ? text.split(/\r?\n/).map(plain).join('\n') : text
  if (!stdout.write(shown)) await new Promise((done) => stdout.once('drain', done))
}

const SIGNS: Readonly<Record<string, string>> = { '→': '->', '±': '+/-', '−': '-', '…': '...', '’': "'", '·': '-' }

/** The same for texts of Sluice itself: typographic characters are replaced with ASCII. */
export const sentence = (text: string): string => plain(text.replace(/[→±−…’·]/g, (c) => SIGNS[c] ?? c))

/**
 * Formats JSON in ASCII: untrusted text such as a job id cannot reach the terminal as a control sequence, and parses to the same
 * value.
 */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(/[\x7f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Prints a failure as one line and exits with `code`. */
export function stop(failure: Failure, code = 1): never {
  process.stderr.write(`sluice: ${plain(formatFailure(failure))}\n`)
  process.exit(code)
}

/** The same, with a JSON line on stdout if requested. */
export function stopJson(failure: Failure, json: true | undefined, code: ExitCode): never {
  const { changed } = failure as Failure & { readonly changed?: readonly string[] }
  const error = { code: failure.code, message: formatFailure(failure), ...(changed ? { changed } : {}) }
  if (json) line(jsonText({ error }))
  return stop(failure, code)
}

/** Returns the value, or ends the command. */
export function must<T>(result: Result<T>, code = 1): T {
  return result.ok ? result.value : stop(result.error, code)
}

const CLOSE_MS = 1800

/** Stops a daemon on a signal. */
export function untilSignal(close: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      setTimeout(() => process.exit(0), CLOSE_MS).unref()
      void close().finally(() => process.exit(0))
    })
  }
}

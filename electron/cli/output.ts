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

/** Prints a failure as one line and ends with `code`. */
export function stop(failure: Failure, code = 1): never {
  process.stderr.write(`sluice: ${plain(formatFailure(failure))}\n`)
  process.exit(code)
}

/** The same, beside a JSON line on stdout where that was asked for. */
export function stopJson(failure: Failure, json: true | undefined, code: ExitCode): never {
  if (json) line(JSON.stringify({ error: { code: failure.code, message: formatFailure(failure) } }))
  return stop(failure, code)
}

/** The value, or the end of the command. */
export function must<T>(result: Result<T>, code = 1): T {
  return result.ok ? result.value : stop(result.error, code)
}

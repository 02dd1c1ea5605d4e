/** How commands end and how they print. */
import { formatFailure, type Failure, type Result } from '#core/base/result.ts'

export const line = (text: string): void => void process.stdout.write(`${text}\n`)

/** Text of others for a terminal: job ids and scenarios may hold control characters, which must not reach it. */
export const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?')

/** Prints a failure as one line and ends with `code`. */
export function stop(failure: Failure, code = 1): never {
  process.stderr.write(`sluice: ${plain(formatFailure(failure))}\n`)
  process.exit(code)
}

/** The value, or the end of the command. */
export function must<T>(result: Result<T>, code = 1): T {
  return result.ok ? result.value : stop(result.error, code)
}

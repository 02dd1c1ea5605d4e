/** Sends one command to one server, with a deadline. */
import { formatTimeout } from '#core/base/figure-text.ts'
import { formatReason } from '#core/base/result.ts'
import type { ExecResult, NodeConnection } from '../base/connection.ts'
import { parseWhileTimerExists } from '../base/while-timer-exists.ts'

/**
 * done: exit 0. refused: the server returned an error. lost: the connection broke before the answer. late: no answer in
 * time; it may still arrive, and the command may still act.
 */
export type Answer =
  | { readonly kind: 'done'; readonly ran: ExecResult }
  | { readonly kind: 'refused'; readonly why: string; readonly ran: ExecResult }
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'late'; readonly why: string; readonly pending: Promise<unknown> }

/** Reason of a command that was not executed, because the timer of its rule is gone. */
export const RULE_TIMER_GONE = 'not executed: the timer that would stop the rule is gone'

const silent = (command: string, code: number): string =>
  parseWhileTimerExists(command) ? RULE_TIMER_GONE : `exit ${code}`

/**
 * Sends one command and waits for its answer.
 *
 * @param ms  wall time for the answer.
 */
export async function sendCommand(node: NodeConnection, command: string, ms: number): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const answered = (async (): Promise<Answer> => {
    const ran = await node.exec(command)
    if (!ran.ok) return { kind: 'lost', why: `the server did not answer: ${formatReason(ran.error)}` }
    const { stderr, code } = ran.value
    const message = stderr.trim().split('\n').at(-1) ?? ''
    return code === 0
      ? { kind: 'done', ran: ran.value }
      : { kind: 'refused', why: message === '' ? silent(command, code) : message, ran: ran.value }
  })()
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(
      () => resolve({ kind: 'late', why: `no answer for ${formatTimeout(ms)}`, pending: answered }),
      ms,
    )
  })
  const answer = await Promise.race([answered, late])
  clearTimeout(timer)
  return answer
}

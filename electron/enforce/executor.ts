/**
 * Applies a plan to one server: records it in the audit first, writes one assignment per lctl call, then reads the
 * rules back and compares.
 *
 * A failed command does not keep the others from being applied; the end state is read, never assumed.
 */
import { getParamCommand, setParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { compareReadBack, type Plan } from '#core/control/plan.ts'
import type { ExecResult, NodeConnection } from '../base/connection.ts'
import { within } from '../base/deadline.ts'
import { detach } from '../base/detach.ts'
import { SERVICES } from '../base/service.ts'
import { whileTimerExists } from '../base/while-timer-exists.ts'
import { sendCommand, RULE_TIMER_GONE } from './send-command.ts'
import type { Audit } from '../base/audit.ts'

export interface Applied {
  /** applied: the read-back equals the plan; failed: it does not; unknown: it could not be read. */
  readonly state: 'applied' | 'failed' | 'unknown'
  /** Text for display: the server's error messages, or that the read-back is equal. */
  readonly detail: string
  /** Rules as read back; undefined when unknown. */
  readonly rules: readonly RuleLine[] | undefined
  readonly rulesText: string
  /** Time of the read-back, wall ms; undefined if it failed. */
  readonly readBackMs?: number | undefined
  /** Set if a command was not executed because the timer that covers the rules is gone. */
  readonly isUncovered?: boolean
  /** Resolves when commands that were not answered in time have ended; they may act until then. */
  readonly late?: Promise<unknown> | undefined
}

/** Deadline of one command, wall ms. */
const ANSWER_MS = 10_000

export interface ApplyOptions {
  /** Parameter that the rules are written to. @default the one of data RPCs */
  readonly parameter?: string
  /** Reason why no rule may be started or tightened now; checked before each such command. Stops are always sent. */
  readonly may?: (() => string | undefined) | undefined
  /**
   * File of the timer that covers the rules: commands that start or tighten a rule are executed only while the timer
   * waits.
   */
  readonly timerFile?: string | undefined
  readonly answerMs?: number
}

const lastLine = (r: ExecResult): string => r.stderr.trim().split('\n').at(-1) ?? ''

/**
 * Sends the plan's commands in order and reads the rules back. A server that does not answer one of them gets no more.
 *
 * @param nowMs  time for the audit, Unix ms on the source's clock.
 * @throws       if the audit cannot be written. Before the commands: nothing was sent. After them: only the outcome is
 *               not recorded, and the next reading shows the rules in force.
 */
export async function applyPlan(
  node: NodeConnection,
  plan: Plan,
  audit: Audit,
  nowMs: number,
  { parameter = SERVICES.ost_io.rules, may, timerFile, answerMs = ANSWER_MS }: ApplyOptions = {},
): Promise<Applied> {
  const complaints: string[] = []
  let isUncovered = false
  let late: Promise<unknown> | undefined
  const commands = plan.commands.map((c) => {
    const command = setParamCommand(parameter, c.value)
    return c.verb === 'stop' || timerFile === undefined ? command : whileTimerExists(timerFile, command)
  })
  // Removals do not wait for a record that cannot be written.
  const isRemoval = plan.commands.every((c) => c.verb === 'stop')
  const record = (kind: 'intent' | 'outcome', text: string): void => {
    if (isRemoval) audit.note(nowMs, plan.server, kind, text)
    else audit.write(nowMs, plan.server, kind, text)
  }
  record('intent', commands.join('\n'))
  for (const [i, c] of plan.commands.entries()) {
    const refused = c.verb === 'stop' ? undefined : may?.()
    if (refused !== undefined) {
      complaints.push(`${c.rule}: not sent, ${refused}`)
      continue
    }
    const answer = await sendCommand(node, commands[i] as string, answerMs)
    if (answer.kind === 'done') continue
    isUncovered ||= answer.kind === 'refused' && answer.why === RULE_TIMER_GONE
    complaints.push(`${c.rule}: ${answer.kind === 'lost' ? 'the server did not answer' : answer.why}`)
    if (answer.kind === 'late') {
      late = answer.pending
      break
    }
  }
  const unknown = (detail: string): Applied => {
    record('outcome', `unknown: ${detail}`)
    return { state: 'unknown', detail, rules: undefined, rulesText: '', isUncovered, late }
  }
  // A late command may still act: the rules read now may change.
  if (late) return unknown(complaints.join('; '))
  const readFromMs = performance.now()
  const read = await within(node.exec(getParamCommand(parameter)), answerMs)
  const readBackMs = performance.now() - readFromMs
  if (!read.ok) return unknown('the read-back was not answered')
  if (read.value.code !== 0) return unknown(lastLine(read.value))
  const rulesText = detach(splitParams(read.value.stdout).get(parameter) ?? '')
  const { rules } = parseNrsTbfRule(rulesText)
  const differences = compareReadBack(plan, rules)
  const state = differences.length === 0 ? 'applied' : 'failed'
  const detail = [...complaints, ...differences].join('; ') || 'verified by read-back'
  record('outcome', `${state}: ${detail}`)
  return { state, detail, rules, rulesText, isUncovered, readBackMs }
}

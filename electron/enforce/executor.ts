/**
 * Applies a plan to one server: audit first, one assignment per lctl call, then the rules are read back and compared.
 *
 * A failed command does not leave the others unapplied; the end state is known by reading, never assumed.
 */
import { getParamCommand, setParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { compareReadBack, type Plan } from '#core/control/plan.ts'
import type { ExecResult, NodeConnection } from '../base/connection.ts'
import { within } from '../base/deadline.ts'
import { detach } from '../base/detach.ts'
import { SERVICES } from '../base/service.ts'
import { underTimer } from '../base/under-timer.ts'
import { ask, TIMER_GONE } from './ask.ts'
import type { Audit } from '../base/audit.ts'

export interface Applied {
  /** applied: the read-back equals the plan; failed: it does not; unknown: it could not be read. */
  readonly state: 'applied' | 'failed' | 'unknown'
  /** For people: what the server answered, or that the read-back is equal. */
  readonly detail: string
  /** Rules as read back; undefined when unknown. */
  readonly rules: readonly RuleLine[] | undefined
  readonly rulesText: string
  /** Whether a command was not carried out because the timer that covers the rules is gone. */
  readonly isUncovered?: boolean
  /** Resolves when commands have ended that were not answered in time and may act until then. */
  readonly late?: Promise<unknown> | undefined
}

/** Time that one command has, wall ms. */
const ANSWER_MS = 10_000

export interface ApplyOptions {
  /** Parameter that the rules are written to. @default that of data RPCs */
  readonly parameter?: string
  /** Why nothing may be made or tightened now; asked before each such command. Rules are stopped whatever it says. */
  readonly may?: (() => string | undefined) | undefined
  /** File of the timer that covers the rules: what makes or tightens one is carried out only while the timer waits. */
  readonly timerFile?: string | undefined
  readonly answerMs?: number
}

const lastLine = (r: ExecResult): string => r.stderr.trim().split('\n').at(-1) ?? ''

/**
 * Sends the plan's commands in order and reads the rules back. A server that does not answer one of them gets no more.
 *
 * @param nowMs  instant for the audit, Unix ms on the source's clock.
 * @throws       when the audit cannot be written. Before the commands nothing was sent then; after them only the outcome is
 *               not on record, and the next reading tells what stands.
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
    return c.verb === 'stop' || timerFile === undefined ? command : underTimer(timerFile, command)
  })
  // What only takes rules away is not kept waiting by a record that cannot be written.
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
    const answer = await ask(node, commands[i] as string, answerMs)
    if (answer.kind === 'done') continue
    isUncovered ||= answer.kind === 'refused' && answer.why === TIMER_GONE
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
  // It may still act: what the rules are now says nothing of what they will be.
  if (late) return unknown(complaints.join('; '))
  const read = await within(node.exec(getParamCommand(parameter)), answerMs)
  if (!read.ok) return unknown('the read-back was not answered')
  if (read.value.code !== 0) return unknown(lastLine(read.value))
  const rulesText = detach(splitParams(read.value.stdout).get(parameter) ?? '')
  const { rules } = parseNrsTbfRule(rulesText)
  const differences = compareReadBack(plan, rules)
  const state = differences.length === 0 ? 'applied' : 'failed'
  const detail = [...complaints, ...differences].join('; ') || 'read back equal'
  record('outcome', `${state}: ${detail}`)
  return { state, detail, rules, rulesText, isUncovered }
}

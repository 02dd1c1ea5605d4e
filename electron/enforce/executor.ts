/**
 * Applies a plan to one server: records it in the audit first, writes it in as few command lines as possible, then reads the
 * rules back and compares.
 *
 * A failed command does not keep the others from being applied; the end state is read, never assumed. A stop of the cluster is
 * obeyed before each line.
 */
import { ok, type Result } from '#core/base/result.ts'
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { compareReadBack, type Plan } from '#core/control/plan.ts'
import type { ExecResult, NodeConnection } from '../base/connection.ts'
import { within } from '../base/deadline.ts'
import { detach } from '../base/detach.ts'
import { SERVICES } from '../base/service.ts'
import { isRefusedWhole, resultsOf, ruleLines, type CommandLine } from './rule-line.ts'
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
  /** Reason why no rule may be started or tightened now; checked before each line with such commands. Stops are always sent. */
  readonly may?: (() => string | undefined) | undefined
  /**
   * File of the timer that covers the rules: commands that start or tighten a rule are executed only while the timer
   * waits.
   */
  readonly timerFile?: string | undefined
  readonly answerMs?: number
}

const lastLine = (r: ExecResult): string => r.stderr.trim().split('\n').at(-1) ?? ''

/** Most rules of one fault, and most faults, that are named. */
const NAMED_MOST = 8

/** Faults of a plan's commands, equal ones together: `a, b: no answer for 10 s`. */
class Complaints {
  readonly #rules = new Map<string, string[]>()

  add(rule: string, fault: string): void {
    const rules = this.#rules.get(fault)
    if (rules) rules.push(rule)
    else this.#rules.set(fault, [rule])
  }

  get lines(): string[] {
    const lines = [...this.#rules].map(([fault, rules]) => {
      const more = rules.length > NAMED_MOST ? ` and ${rules.length - NAMED_MOST} more` : ''
      return `${rules.slice(0, NAMED_MOST).join(', ')}${more}: ${fault}`
    })
    return lines.length > NAMED_MOST
      ? [...lines.slice(0, NAMED_MOST), `${lines.length - NAMED_MOST} other commands failed`]
      : lines
  }
}

/** Rules of a server as text: read by the streaming reader where there is one, else by lctl. */
async function readRules(node: NodeConnection, parameter: string, answerMs: number): Promise<Result<ExecResult>> {
  const policies = parameter.replace(/nrs_tbf_rule$/, 'nrs_policies')
  const read = node.counters && (await within(node.counters.read([policies, parameter]), answerMs))
  const text = read?.ok ? read.value.values.get(parameter) : undefined
  if (text !== undefined) return ok({ stdout: text, stderr: '', code: 0 })
  const ran = await within(node.exec(getParamCommand(parameter)), answerMs)
  if (!ran.ok || ran.value.code !== 0) return ran
  return ok({ ...ran.value, stdout: splitParams(ran.value.stdout).get(parameter) ?? '' })
}

/**
 * Sends the plan's commands in order and reads the rules back. A server that does not answer one of the lines gets no more.
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
  const complaints = new Complaints()
  let isUncovered = false
  let late: Promise<unknown> | undefined
  // Removals do not wait for a record that cannot be written.
  const isRemoval = plan.commands.every((c) => c.verb === 'stop')
  const record = (kind: 'intent' | 'outcome', text: string): Promise<void> | undefined => {
    if (!isRemoval) return audit.record(nowMs, plan.server, kind, text)
    audit.note(nowMs, plan.server, kind, text)
    return undefined
  }
  const intend = (lines: readonly CommandLine[]): Promise<void> | undefined =>
    record('intent', lines.map((l) => l.text).join('\n'))
  const pending = ruleLines(parameter, plan.commands, timerFile)
  const intended = intend(pending)
  if (intended) await intended
  for (let line = pending.shift(); line && !late; line = pending.shift()) {
    const refused = line.commands.some((c) => c.verb !== 'stop') ? may?.() : undefined
    if (refused !== undefined) {
      const removals = line.commands.filter((c) => c.verb === 'stop')
      for (const c of line.commands) if (c.verb !== 'stop') complaints.add(c.rule, `not sent, ${refused}`)
      pending.unshift(...ruleLines(parameter, removals, timerFile))
      continue
    }
    const answer = await sendCommand(node, line.text, answerMs)
    if (answer.kind === 'lost' || answer.kind === 'late') {
      const why = answer.kind === 'lost' ? 'the server did not answer' : answer.why
      for (const c of line.commands) complaints.add(c.rule, why)
      if (answer.kind === 'late') late = answer.pending
    } else if (isRefusedWhole(line, answer)) {
      const single = ruleLines(parameter, line.commands, timerFile, 1)
      await intend(single)
      pending.unshift(...single)
    } else {
      for (const { command, fault } of resultsOf(parameter, line, answer)) {
        isUncovered ||= fault === RULE_TIMER_GONE
        if (fault !== undefined) complaints.add(command.rule, fault)
      }
    }
  }
  const unknown = async (detail: string): Promise<Applied> => {
    await record('outcome', `unknown: ${detail}`)
    return { state: 'unknown', detail, rules: undefined, rulesText: '', isUncovered, late }
  }
  // A late command may still act: the rules read now may change.
  if (late) return unknown(complaints.lines.join('; '))
  const readFromMs = performance.now()
  const read = await readRules(node, parameter, answerMs)
  const readBackMs = performance.now() - readFromMs
  if (!read.ok) return unknown('the read-back was not answered')
  if (read.value.code !== 0) return unknown(lastLine(read.value))
  const rulesText = detach(read.value.stdout)
  const { rules } = parseNrsTbfRule(rulesText)
  const differences = compareReadBack(plan, rules)
  const state = differences.length === 0 ? 'applied' : 'failed'
  const detail = [...complaints.lines, ...differences].join('; ') || 'verified by read-back'
  await record('outcome', `${state}: ${detail}`)
  return { state, detail, rules, rulesText, isUncovered, readBackMs }
}

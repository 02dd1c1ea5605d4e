/**
 * Applies a plan to one server: audit first, one assignment per lctl call, then the rules are read back and compared.
 *
 * A failed command does not leave the others unapplied; the end state is known by reading, never assumed.
 */
import { getParamCommand, setParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { compareReadBack, type Plan } from '#core/control/plan.ts'
import type { ExecResult, NodeConnection } from '../cluster/connection.ts'
import { SERVICES } from '../cluster/service.ts'
import { detach } from '../cluster/detach.ts'
import type { Audit } from './audit.ts'

export interface Applied {
  /** applied: the read-back equals the plan; failed: it does not; unknown: it could not be read. */
  readonly state: 'applied' | 'failed' | 'unknown'
  /** For people: what the server answered, or that the read-back is equal. */
  readonly detail: string
  /** Rules as read back; undefined when unknown. */
  readonly rules: readonly RuleLine[] | undefined
  readonly rulesText: string
}

const lastLine = (r: ExecResult): string => r.stderr.trim().split('\n').at(-1) ?? ''

async function attempt(node: NodeConnection, command: string): Promise<ExecResult | undefined> {
  return node.exec(command).catch(() => undefined)
}

/**
 * Sends the plan's commands in order and reads the rules back.
 *
 * @param nowMs      instant for the audit, Unix ms on the source's clock.
 * @param parameter  that the rules are written to.
 * @throws           when the audit cannot be written. Before the commands nothing was sent then; after them only the outcome is
 *                   not on record, and the next reading tells what stands.
 */
export async function applyPlan(
  node: NodeConnection,
  plan: Plan,
  audit: Audit,
  nowMs: number,
  parameter = SERVICES.ost_io.rules,
): Promise<Applied> {
  const complaints: string[] = []
  const commands = plan.commands.map((c) => setParamCommand(parameter, c.value))
  audit.write(nowMs, plan.server, 'intent', commands.join('\n'))
  for (const [i, c] of plan.commands.entries()) {
    const r = await attempt(node, commands[i] as string)
    if (!r) complaints.push(`${c.rule}: the server did not answer`)
    else if (r.code !== 0) complaints.push(`${c.rule}: ${lastLine(r)}`)
  }
  const read = await attempt(node, getParamCommand(parameter))
  const rulesText = read?.code === 0 ? detach(splitParams(read.stdout).get(parameter) ?? '') : ''
  if (!read || read.code !== 0) {
    const detail = read ? lastLine(read) : 'the read-back was not answered'
    audit.write(nowMs, plan.server, 'outcome', `unknown: ${detail}`)
    return { state: 'unknown', detail, rules: undefined, rulesText: '' }
  }
  const { rules } = parseNrsTbfRule(rulesText)
  const differences = compareReadBack(plan, rules)
  const state = differences.length === 0 ? 'applied' : 'failed'
  const detail = [...complaints, ...differences].join('; ') || 'read back equal'
  audit.write(nowMs, plan.server, 'outcome', `${state}: ${detail}`)
  return { state, detail, rules, rulesText }
}

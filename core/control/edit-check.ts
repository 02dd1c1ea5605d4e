/** Validation of an edit against a server: syntax, fields, and whether TBF runs on its queues. */
import { fail, ok, type Result } from '../base/result.ts'
import { errnoText, type Errno } from '../lustre/errno.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import { fullConditions } from '../tbf/conditions.ts'
import { parseRuleCommand, RULE_NAME_MAX } from '../tbf/rule-command.ts'
import type { RuleEdit } from './rule-edit.ts'
import { QUEUES, typeOn, type ServerRules } from './server-rules.ts'

export interface EditFault {
  /** Error of the server; undefined if only Sluice refuses. */
  readonly errno: Errno | undefined
  readonly text: string
}

const refuse = (errno: Errno, why: string): Result<never, EditFault> =>
  fail({ errno, text: `${why}: ${errnoText(errno)}` })

/** Queues that an edit applies to on a server. */
export function queuesOf(edit: Pick<RuleEdit, 'queue'>, hp: boolean): readonly Queue[] {
  if (edit.queue !== 'both') return [edit.queue]
  return hp ? QUEUES : ['reg']
}

/** Returns the command value of a single edit. */
export function valueOf(edit: RuleEdit): string {
  const selector = edit.queue === 'both' ? '' : `${edit.queue} `
  if (edit.verb === 'stop') return `${selector}stop ${edit.name}`
  const rank = edit.rank === undefined ? '' : ` rank=${edit.rank}`
  const rate = edit.rate === undefined ? '' : ` rate=${edit.rate}`
  if (edit.verb === 'change') return `${selector}change ${edit.name}${rate}${rank}`
  return `${selector}start ${edit.name} ${edit.conditions}${rate}${rank}${edit.realtime ? ' realtime=1' : ''}`
}

/**
 * Index of the first control character in a condition. Servers accept and print them verbatim: a line break makes a rule that cannot be
 * parsed, so its presence could not be verified.
 */
export const controlCharacter = (conditions: string): number => conditions.search(/[\x00-\x1f\x7f]/)

/**
 * Checks one edit against a server, in the server's order: syntax, then the running policy. The existence of its rules depends on the
 * other edits and is checked when they are applied.
 *
 * @returns  the edit with its conditions as echoed by the server, in written form.
 */
export function checkEdit(edit: RuleEdit, server: ServerRules): Result<RuleEdit, EditFault> {
  const { rules } = server.profile
  if (edit.verb === 'start' && controlCharacter(edit.conditions) >= 0) {
    return fail({ errno: undefined, text: `the conditions of ${edit.name} contain a control character` })
  }
  let echoed = edit
  for (const queue of queuesOf(edit, server.hp)) {
    const type = typeOn(server, queue)
    const read = parseRuleCommand(valueOf({ ...edit, queue }), { rules, type: type ?? null, hp: server.hp })
    if (!read.ok) return refuse(read.error.errno, read.error.why)
    if (edit.name.length > RULE_NAME_MAX) {
      return fail({ errno: undefined, text: `this release truncates ${edit.name} to ${RULE_NAME_MAX} characters` })
    }
    if (!type) return refuse('ENODEV', `TBF does not run on ${queue} of ${server.server}`)
    if (edit.verb !== 'start' || read.value.verb !== 'start') continue
    const mishandled = read.value.parsed?.cautions.find((c) => c.isMishandled)
    if (mishandled) return fail({ errno: undefined, text: mishandled.why })
    const echo = read.value.parsed?.text ?? edit.conditions
    echoed = { ...edit, conditions: type.isList ? fullConditions(echo, type.fields) : echo }
  }
  return ok(echoed)
}

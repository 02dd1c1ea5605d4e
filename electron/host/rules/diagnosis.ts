/** Faults of a draft: the first fault on any server, and commands that Sluice itself does not send. */
import type { RuleFault as Fault } from '#core/api/rule-edits.ts'
import { isControllerRule, isHelperRule } from '#core/controllers/registry.ts'
import { controlCharacter, queuesOf } from '#core/control/edit-check.ts'
import type { QueueChoice } from '#core/control/rule-edit.ts'
import { DEFAULT_RULE, type ServerRules } from '#core/control/server-rules.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import { diagnoseRule } from '#core/tbf/diagnose-rule.ts'
import type { RuleCommand } from '#core/tbf/rule-command.ts'
import type { RuleFault } from '#core/tbf/rule-fault.ts'
import type { StagedChange } from './staged-changes.ts'

export interface DraftDiagnosis {
  /** Parsed command, if every server accepts the text. */
  readonly command: RuleCommand | undefined
  readonly faults: readonly Fault[]
  /** Accepted, but probably not intended. */
  readonly warnings: readonly RuleFault[]
}

const toFault = (f: RuleFault): Fault => ({
  at: f.at,
  length: f.length,
  message: f.why,
  errno: f.isMishandled ? null : f.errno,
  field: f.part ?? 'verb',
})

interface Names {
  readonly names: readonly string[]
  /** Names as text, to compare sets. */
  readonly text: string
}
const present = new WeakMap<ServerRules['rules'], Readonly<Record<Queue, Names>>>()

/** Rule names of a queue; collected once per reading. */
function namesOn({ rules }: ServerRules, queue: Queue): Names {
  let known = present.get(rules)
  if (!known) {
    const on = (q: Queue): Names => {
      const names = [...new Set(rules.filter((r) => r.queue === q).map((r) => r.name))]
      return { names, text: JSON.stringify(names) }
    }
    present.set(rules, (known = { reg: on('reg'), hp: on('hp') }))
  }
  return known[queue]
}

/** Rule names of a queue after the staged changes. */
function namesAfter(server: ServerRules, staged: readonly StagedChange[], queue: Queue): string[] {
  const { hp } = server
  const names = new Set(namesOn(server, queue).names)
  for (const { edit } of staged) {
    if (!queuesOf(edit, hp).includes(queue)) continue
    if (edit.verb === 'start') names.add(edit.name)
    else if (edit.verb === 'stop') names.delete(edit.name)
  }
  return [...names]
}

const sluiceFault = (value: string, name: string, field: Fault['field'], message: string): Fault => ({
  at: Math.max(0, value.lastIndexOf(name)),
  length: name.length,
  message,
  errno: null,
  field,
})

/** Names reserved for controllers, and ranks next to rules that controllers start and stop. */
function commandFault(value: string, c: RuleCommand): Fault | undefined {
  if (c.verb === 'start' && (isControllerRule(c.name) || isHelperRule(c.name))) {
    return sluiceFault(value, c.name, 'name', 'names of this form belong to controllers, which remove such rules')
  }
  const control = c.verb === 'start' ? controlCharacter(c.conditions) : -1
  if (c.verb === 'start' && control >= 0) {
    const at = value.indexOf(c.conditions) + control
    return { at, length: 1, message: 'a control character cannot be read back', errno: null, field: 'conditions' }
  }
  const rank = c.verb === 'stop' ? undefined : c.rank
  if (rank === undefined || !isControllerRule(rank)) return undefined
  return sluiceFault(value, rank, 'rank', 'a controller starts and stops this rule; name one that stays')
}

/** Faults of a draft that only replaces the expiry of a rule: the rule must exist on a server, or be staged. */
export function diagnoseRenewal(
  servers: readonly ServerRules[],
  staged: readonly StagedChange[],
  edit: { readonly name: string; readonly queue: QueueChoice },
): readonly Fault[] {
  const isThere = servers.some((s) => queuesOf(edit, s.hp).some((q) => namesAfter(s, staged, q).includes(edit.name)))
  if (isThere && edit.name !== DEFAULT_RULE) return []
  const message = isThere ? 'default cannot expire' : `${edit.name === '' ? 'the rule' : edit.name} does not exist`
  return [{ at: 0, length: 0, message, errno: isThere ? null : 'ENOENT', field: 'name' }]
}

/**
 * Diagnoses the value of a draft on every server that differs.
 *
 * @param staged  changes sent before it, without the one it replaces.
 */
export function diagnoseDraft(
  servers: readonly ServerRules[],
  staged: readonly StagedChange[],
  value: string,
): DraftDiagnosis {
  const wide = [...value].findIndex((c) => c.charCodeAt(0) > 255)
  if (wide >= 0) {
    const message = 'job ids and rules are bytes; this character is more than one'
    return {
      command: undefined,
      warnings: [],
      faults: [{ at: wide, length: 1, message, errno: 'EINVAL', field: 'conditions' }],
    }
  }
  const queue = (/^(reg|hp) /.exec(value)?.[1] ?? 'both') as QueueChoice
  const seen = new Set<string>()
  let first: ReturnType<typeof diagnoseRule> | undefined
  for (const [server, q] of servers.flatMap((s) => queuesOf({ queue }, s.hp).map((on) => [s, on] as const))) {
    const { profile, hp, tbf } = server
    // Staged changes are the same for all servers.
    const key = `${JSON.stringify([profile.release, hp, tbf[q], q])}${namesOn(server, q).text}`
    if (seen.has(key)) continue
    seen.add(key)
    const names = namesAfter(server, staged, q)
    const found = diagnoseRule(value, { type: tbf[q] ?? null, profile, hp, names })
    if (found.fault) return { command: undefined, faults: [toFault(found.fault)], warnings: found.warnings }
    first ??= found
  }
  // Without a server only the form of the command can be checked.
  first ??= diagnoseRule(value, { type: '' })
  if (first.fault) return { command: undefined, faults: [toFault(first.fault)], warnings: first.warnings }
  const fault = first.command && commandFault(value, first.command)
  return { command: fault ? undefined : first.command, faults: fault ? [fault] : [], warnings: first.warnings }
}

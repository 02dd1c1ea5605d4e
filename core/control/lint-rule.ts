/** Remarks on a single rule, drafted or present. */
import { parseRuleCommand, RULE_NAME_MAX } from '../tbf/rule-command.ts'
import { NS_PER_S } from '../base/units.ts'
import { nsPerToken } from '../tbf/bucket.ts'
import { clausesOf, shapeOf } from './condition-shape.ts'
import { queuesOf, valueOf } from './edit-check.ts'
import type { Lint, LintContext } from './lint-codes.ts'
import type { StartEdit } from './rule-edit.ts'
import { grouped } from './sentence.ts'
import { typeOn, type ServerRules } from './server-rules.ts'

/** Delay from the due time of a token until a service thread checks, on bare metal (spec/lustre-pacing 3). */
const WAKE_UP_NS = 50_000
/** Rate from which the loss is noticeable, RPC/s. */
const LOSES_FROM = 1_000
/** Rate from which a rule counts as intentionally unlimited, RPC/s. */
const NO_LIMIT_FROM = 100_000

/** Fields of a rule that are checked. */
interface OneRule {
  readonly name: string
  readonly rate: number
  readonly realtime?: boolean | undefined
}

/**
 * A bucket loses the fraction of a token at each dequeue, so a saturated class runs at 1/(N + L), with the time per token N and
 * the wake-up delay L (spec/lustre 2.3). Realtime rules lose nothing.
 */
function rateLints({ name, rate, realtime }: OneRule): Lint[] {
  if (realtime || rate < LOSES_FROM) return []
  const held = NS_PER_S / (nsPerToken(rate) + WAKE_UP_NS)
  const about = grouped(Math.round(held / 10) * 10)
  if (rate >= NO_LIMIT_FROM) {
    const text = `no effective limit: one class reaches at most about ${about} RPC/s`
    return [{ code: 'RATE_LOSES', level: 'info', rule: name, text }]
  }
  const lost = Math.round((1 - held / rate) * 100)
  const text = `${grouped(rate)} RPC/s yields about ${about}: each RPC loses 50 µs to a wake-up, ${lost} % here`
  return [{ code: 'RATE_LOSES', level: lost >= 25 ? 'watch' : 'info', rule: name, text }]
}

/** Realtime credit accumulates without a cap while a class is idle (measured part 2, 2). */
function realtimeLints({ name, rate, realtime }: OneRule): Lint[] {
  if (!realtime) return []
  const text = `realtime: after 60 s idle ${grouped(rate * 60)} RPCs pass at once, and more after a longer pause`
  return [{ code: 'REALTIME_BURST', level: 'watch', rule: name, text }]
}

/** Longer names are refused, or truncated by releases that do not check them. */
function nameLints(name: string, server: ServerRules): Lint[] {
  if (name.length <= RULE_NAME_MAX) return []
  const what = server.profile.rules.checksNames ? 'refused' : `cut to ${name.slice(0, RULE_NAME_MAX)}`
  const text = `the name has ${name.length} characters, at most ${RULE_NAME_MAX} are allowed: ${what}`
  return [{ code: 'NAME_TOO_LONG', level: 'bad', rule: name, text }]
}

const typeLabel = (arg: string | undefined): string =>
  arg === undefined ? 'no TBF' : arg === '' ? 'generic tbf' : `tbf ${arg}`

/** Fields that the running type does not support, and inputs that servers accept and mishandle. */
function conditionLints(edit: StartEdit, server: ServerRules): Lint[] {
  const { rules } = server.profile
  const out: Lint[] = []
  for (const queue of queuesOf(edit, server.hp)) {
    const type = typeOn(server, queue)
    if (!type) continue
    const shape = shapeOf(edit.conditions, type) ?? shapeOf(edit.conditions, { ...type, isList: false }) ?? []
    const strange = [...new Set(shape.flat().map((c) => c.field))].filter((f) => !type.fields.includes(f))
    for (const field of strange) {
      const text = `matches by ${field}, but ${server.server} runs ${typeLabel(server.tbf[queue])} on ${queue}: refused`
      out.push({ code: 'TYPE_MISMATCH', level: 'bad', rule: edit.name, text })
    }
    const joined = type.isList ? shape.flatMap((all) => all.flatMap((c) => c.items)).find((i) => i.includes('}')) : ''
    if (joined) {
      const text = `${server.server} reads the braces as one list: ${joined} is a single name there`
      out.push({ code: 'ODD', level: 'watch', rule: edit.name, text })
    }
    const read = parseRuleCommand(valueOf({ ...edit, queue }), { rules, type, hp: server.hp })
    if (!read.ok || read.value.verb !== 'start') continue
    for (const { why, isMishandled } of read.value.parsed?.cautions ?? []) {
      out.push({
        code: isMishandled ? 'MISHANDLED' : 'ODD',
        level: isMishandled ? 'bad' : 'watch',
        rule: edit.name,
        text: why,
      })
    }
  }
  return out
}

/** Creates are opens with intent: `opcode={mds_reint}` does not limit them (measured B5). */
function createLints(
  rule: { name: string; conditions: string },
  server: ServerRules,
  service: LintContext['service'],
): Lint[] {
  const type = typeOn(server, 'reg')
  if (service !== 'mdt' || !type) return []
  const names = clausesOf(shapeOf(rule.conditions, type) ?? [], 'opcode').flatMap((c) => c.items)
  if (!names.includes('mds_reint') || names.includes('ldlm_enqueue')) return []
  const text = 'opens and creates are sent as ldlm_enqueue: mds_reint limits only mkdir, unlink, rename and setattr'
  return [{ code: 'CREATE_NOT_LIMITED', level: 'watch', rule: rule.name, text }]
}

/** Returns the remarks on one rule of a server, drafted or present. */
export function lintRule(rule: StartEdit, server: ServerRules, service: LintContext['service']): Lint[] {
  return [
    ...nameLints(rule.name, server),
    ...conditionLints(rule, server),
    ...createLints(rule, server, service),
    ...rateLints(rule),
    ...realtimeLints(rule),
  ]
}

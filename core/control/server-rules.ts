/** Rules of one service on one server as read, on all CPTs and queues, with the TBF type and release needed to interpret them. */
import { primaryPolicy, type PolicyStatus, type Queue } from '../lustre/nrs-policies.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { Profile } from '../lustre/profile.ts'
import { fullConditions } from '../tbf/conditions.ts'
import { isField } from '../tbf/request-key.ts'
import { parseTbfType, type TbfType } from '../tbf/tbf-type.ts'

export const QUEUES = ['reg', 'hp'] as const
/** The built-in rule; it cannot be stopped. */
export const DEFAULT_RULE = 'default'

export interface ServerRules {
  readonly server: string
  /** Rules as read from nrs_tbf_rule: every queue and CPT, in match order. */
  readonly rules: readonly RuleLine[]
  /** Argument of the TBF on a queue: `jobid`, `jobid+opcode`, empty for generic; undefined if it does not run. */
  readonly tbf: Readonly<Record<Queue, string | undefined>>
  readonly profile: Profile
  readonly cpts: number
  /** True if the service has a high-priority queue. */
  readonly hp: boolean
  /** Realtime flags by rule name, of rules started from this console. Servers do not report them: a missing name is unknown. */
  readonly realtime?: ReadonlyMap<string, boolean> | undefined
  /** tbf_depth: tokens of a full bucket. @default 3 */
  readonly depth?: number | undefined
}

/** Combines the parts of one reading of a server. */
export function serverRules(
  server: string,
  policies: readonly PolicyStatus[],
  rules: readonly RuleLine[],
  profile: Profile,
  more: Pick<ServerRules, 'realtime' | 'depth'> = {},
): ServerRules {
  const hp = policies.some((p) => p.queue === 'hp')
  const typeOf = (queue: Queue): string | undefined => {
    const primary = primaryPolicy(policies, queue)
    return primary?.name === 'tbf' ? primary.arg : undefined
  }
  const cpts = rules.reduce((n, r) => Math.max(n, r.cpt + 1), 1)
  return { server, rules, tbf: { reg: typeOf('reg'), hp: typeOf('hp') }, profile, cpts, hp, ...more }
}

/** Returns the TBF type on a queue; undefined if TBF does not run. A type that the release should not have is parsed, too. */
export function typeOn({ tbf, profile }: Pick<ServerRules, 'tbf' | 'profile'>, queue: Queue): TbfType | undefined {
  const arg = tbf[queue]
  if (arg === undefined) return undefined
  const read = parseTbfType(arg === '' ? undefined : arg, profile.rules)
  return read.ok ? read.value : { fields: [...new Set(arg.split('+').filter(isField))], isList: false }
}

/** Fields needed to interpret a server's rules. */
export type ReadableRules = Pick<ServerRules, 'rules' | 'tbf' | 'profile'>

/**
 * Returns the lines of a server with their conditions in written form. Releases up to 2.17.0 print the rules of a single-type TBF without
 * their field, `{dd.*}`, and the built-in rule as `{*}` (measured A4); only the running type determines the field. The built-in rule has
 * `*`.
 */
export function writtenRules(server: ReadableRules): readonly RuleLine[] {
  const { tbf, profile } = server
  // A list is queried at every key press; the array is the same until the rules are read again.
  const known = written.get(server.rules)
  if (known && known.reg === tbf.reg && known.hp === tbf.hp && known.profile === profile) return known.lines
  const types = { reg: typeOn(server, 'reg'), hp: typeOn(server, 'hp') }
  const lines = server.rules.map((r) => {
    const conditions = r.name === DEFAULT_RULE ? '*' : fullConditions(r.conditions, types[r.queue]?.fields ?? [])
    return conditions === r.conditions ? r : { ...r, conditions }
  })
  written.set(server.rules, { reg: tbf.reg, hp: tbf.hp, profile, lines })
  return lines
}

interface Written {
  readonly reg: string | undefined
  readonly hp: string | undefined
  readonly profile: Profile
  readonly lines: readonly RuleLine[]
}
const written = new WeakMap<readonly RuleLine[], Written>()

/** The rules of one head, in match order. */
export const headOf = (rules: readonly RuleLine[], queue: Queue, cpt: number): RuleLine[] =>
  rules.filter((r) => r.queue === queue && r.cpt === cpt)

/** CPTs that have rules on a queue, ascending. */
export const cptsOf = (rules: readonly RuleLine[], queue: Queue): number[] =>
  [...new Set(rules.filter((r) => r.queue === queue).map((r) => r.cpt))].sort((a, b) => a - b)

/** Text of a head without the number of classes: equal texts mean equal heads. */
export const headText = (head: readonly RuleLine[]): string =>
  head.map((r) => `${r.name} ${r.conditions} ${r.rate}\n`).join('')

const texts = new WeakMap<readonly RuleLine[], string>()

/** The same for the first head of each queue, for lists that are compared repeatedly. */
export function firstHeadsText(rules: readonly RuleLine[]): string {
  let text = texts.get(rules)
  if (text === undefined) {
    text = JSON.stringify(QUEUES.map((q) => headText(headOf(rules, q, cptsOf(rules, q)[0] ?? 0))))
    texts.set(rules, text)
  }
  return text
}

const wholes = new WeakMap<readonly RuleLine[], string>()

/** The same for all lines. */
export function allRulesText(rules: readonly RuleLine[]): string {
  let text = wholes.get(rules)
  if (text === undefined) {
    text = rules.map((r) => `${r.queue} ${r.cpt} ${r.name} ${r.conditions} ${r.rate}\n`).join('')
    wholes.set(rules, text)
  }
  return text
}

/** True if two heads have the same rules in the same order, ignoring classes. */
export const isSameHead = (a: readonly RuleLine[], b: readonly RuleLine[]): boolean =>
  a.length === b.length &&
  a.every((r, i) => r.name === b[i]?.name && r.rate === b[i].rate && r.conditions === b[i].conditions)

/** True if all CPTs of a queue have the same rules. */
export function areCptsAlike(rules: readonly RuleLine[], queue: Queue): boolean {
  const [first, ...rest] = cptsOf(rules, queue).map((cpt) => headOf(rules, queue, cpt))
  return first === undefined || rest.every((h) => isSameHead(h, first))
}

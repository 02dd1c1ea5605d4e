/**
 * Policy files in the public text format, one policy per line:
 *
 *     <rule> <second> <job|demand> <job name> <operation or class> <value>
 *
 * Source: spec/padll 2. `user` and `mds` lines of sample files are read and not enforced, as upstream does; lines of
 * the older `enforcement_rules_with_time_file` are recognised and refused.
 */
import { isScope } from '../vocabulary.ts'
import { jobNameFault, type Policy, POLICY_RATE_MAX, type PolicyFile, SECOND_MAX } from './policy.ts'
import {
  faultAt,
  ruleLines,
  type RuleFault,
  shown,
  parseInteger,
  type Word,
  fieldCountFault,
  splitFields,
} from './rule-fault.ts'

const FIELDS = ['rule', 'second', 'job|demand', 'job-name', 'operation-or-class', 'value'] as const
const KINDS: Readonly<Record<string, Policy['kind']>> = { job: 'limit', demand: 'demand', user: 'user', mds: 'mds' }

const isDead = (fields: readonly Word[]): boolean => fields.length === 8 && fields[3]?.text === 'flow'

/** Accepts decimals: rates are floored only when they are split over stages. */
function valueOf(text: string): number | string {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return `"${shown(text)}" is not a rate: expected op/s`
  const value = Number(text)
  if (value < 0) return 'a rate is above 0: omit the line for no limit'
  if (value === 0) return 'a rate of 0 would stop the job permanently: the minimum is 1 op/s'
  if (value < 1 || value > POLICY_RATE_MAX) return `expected a rate of 1 to ${POLICY_RATE_MAX} op/s`
  return value
}

function readPolicy(line: number, fields: readonly Word[], faults: RuleFault[]): Policy | undefined {
  const wrong = (index: number, message: string): undefined => {
    const word = fields[index]
    if (word) faults.push(faultAt(line, word, message))
    return undefined
  }
  if (isDead(fields)) {
    return wrong(0, 'a line of the older enforcement_rules_with_time_file, which is no longer supported')
  }
  const counted = fieldCountFault(line, fields, FIELDS)
  if (counted) {
    faults.push(counted)
    return undefined
  }
  const [rule, second, kindWord, job, scope, rate] = fields.map((w) => w.text) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const ruleNumber = parseInteger(rule, 0, Number.MAX_SAFE_INTEGER)
  if (ruleNumber === undefined) return wrong(0, `"${shown(rule)}" is not a rule number`)
  const atS = parseInteger(second, 0, SECOND_MAX)
  if (atS === undefined) return wrong(1, `"${shown(second)}" is not a time in seconds: expected 0 to ${SECOND_MAX}`)
  const kind = Object.hasOwn(KINDS, kindWord) ? KINDS[kindWord] : undefined
  if (kind === undefined) return wrong(2, `"${shown(kindWord)}" is not a kind of policy: expected job or demand`)
  const nameFault = jobNameFault(job)
  if (nameFault !== undefined) return wrong(3, nameFault)
  if (!isScope(scope))
    return wrong(4, `"${shown(scope)}" is neither an operation nor a class: expected for example open or meta_op`)
  const value = valueOf(rate)
  if (typeof value === 'string') return wrong(5, value)
  if (kind !== 'limit' && kind !== 'demand' && fields[2]) {
    faults.push(faultAt(line, fields[2], `"${kindWord}" policies are read but not enforced`, 'warning'))
  }
  return { line, rule: ruleNumber, atS, kind, job, scope, value }
}

/** Reports two policies of one kind for the same job and scope at the same second: the later line wins. */
export function duplicateFaults(policies: readonly Policy[], columnOf: (p: Policy) => Word): RuleFault[] {
  const seen = new Map<string, number>()
  return policies.flatMap((p) => {
    const key = JSON.stringify([p.atS, p.kind, p.job, p.scope])
    const before = seen.get(key)
    seen.set(key, p.line)
    if (before === undefined) return []
    return [faultAt(p.line, columnOf(p), `replaces line ${before}: the same job, scope and second`, 'warning')]
  })
}

/** Parses a policy file. Skips empty lines and lines beginning with `#`; valid lines are kept. */
export function parsePolicyText(text: string): PolicyFile {
  const faults: RuleFault[] = []
  const policies: Policy[] = []
  const jobFields = new Map<number, Word>()
  for (const { line, text: raw } of ruleLines(text, faults)) {
    const fields = splitFields(raw)
    const policy = readPolicy(line, fields, faults)
    if (!policy) continue
    policies.push(policy)
    if (fields[3]) jobFields.set(line, fields[3])
  }
  faults.push(...duplicateFaults(policies, (p) => jobFields.get(p.line) ?? { text: p.job, column: 1 }))
  return { format: 'text', policies, faults: faults.sort((a, b) => a.line - b.line || a.column - b.column) }
}

const KEYWORDS = { limit: 'job', demand: 'demand', user: 'user', mds: 'mds' } as const

/** Formats a policy as a line of the file, without line end. */
export const printPolicy = ({ rule, atS, kind, job, scope, value }: Policy): string =>
  `${rule} ${atS} ${KEYWORDS[kind]} ${job} ${scope} ${value}`

/** Formats policies as a file. */
export const printPolicyText = (policies: readonly Policy[]): string =>
  policies.map((p) => `${printPolicy(p)}\n`).join('')

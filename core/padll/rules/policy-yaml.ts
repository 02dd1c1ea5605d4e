/**
 * Policy files as YAML:
 *
 *     policies:
 *       - { at: 0, limit: 62000, job: train.py, scope: meta_op }
 *       - { at: 60, demand: 34000, job: bwa, scope: open }
 *
 * `at` is in seconds (0 if absent); `rule` may number a policy. Invalid items are reported with line and column, the
 * rest is kept.
 */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from 'yaml'
import { isScope } from '../vocabulary.ts'
import { jobNameFault, type Policy, POLICY_KINDS, POLICY_RATE_MAX, type PolicyFile, SECOND_MAX } from './policy.ts'
import { duplicateFaults } from './policy-text.ts'
import { LINES_MAX, type RuleFault, shown, type Word } from './rule-fault.ts'

type Range = readonly [number, number, ...number[]]

/** True for text meant as YAML: its first line with content begins with `policies:`, or a list. */
export const looksLikeYaml = (text: string): boolean =>
  /^(?:[ \t]*(?:#[^\n]*|\r)?\n|---[^\n]*\n)*[ \t]*(?:["']?policies["']?[ \t]*:|-[ \t]|\{|\[)/.test(text)

class PolicyReader {
  readonly faults: RuleFault[] = []
  readonly #lines: LineCounter
  readonly #starts = new Map<Policy, Word>()

  constructor(lines: LineCounter) {
    this.#lines = lines
  }

  wrong(range: Range | null | undefined, message: string): undefined {
    const [from, to] = range ?? [0, 1]
    const { line, col } = this.#lines.linePos(from)
    this.faults.push({ line, column: col, length: Math.max(1, to - from), severity: 'error', message })
    return undefined
  }

  /** Position of a parsed policy. */
  startOf(policy: Policy): Word {
    return this.#starts.get(policy) ?? { text: '', column: 1 }
  }

  policy(map: YAMLMap, index: number): Policy | undefined {
    const known = new Set<string>(['at', 'rule', 'job', 'scope', ...POLICY_KINDS])
    const values = new Map<string, { readonly value: unknown; readonly range: Range | null | undefined }>()
    for (const { key, value } of map.items) {
      if (!isScalar(key)) return this.wrong(map.range, 'expected names such as at, limit, job and scope')
      const name = String(key.value)
      if (values.has(name)) return this.wrong(key.range, `"${shown(name)}" occurs twice`)
      if (!known.has(name)) {
        const message = `"${shown(name)}" is unknown: expected ${[...known].join(', ')}`
        return this.wrong(key.range, message)
      }
      const scalar = isScalar(value) ? value : undefined
      // A job 4690.0 or 007 is a name as written, not a number.
      const isNumber = name === 'job' && typeof scalar?.value === 'number'
      const content = isNumber ? scalar.source : scalar?.value
      values.set(name, { value: content, range: scalar?.range ?? key.range })
    }
    const kinds = POLICY_KINDS.filter((k) => values.has(k))
    const [kind] = kinds
    if (kind === undefined || kinds.length > 1) {
      return this.wrong(map.range, 'a policy has either limit or demand, in op/s')
    }
    const value = values.get(kind)
    const rate = value?.value
    if (typeof rate !== 'number' || !(rate >= 1 && rate <= POLICY_RATE_MAX)) {
      return this.wrong(value?.range, `${kind}: expected op/s from 1 to ${POLICY_RATE_MAX}`)
    }
    const job = values.get('job')
    const name = job?.value
    const nameFault = typeof name === 'string' ? jobNameFault(name) : 'job: expected the name of a job'
    if (nameFault !== undefined || typeof name !== 'string') return this.wrong(job?.range ?? map.range, nameFault ?? '')
    const scope = values.get('scope')
    if (typeof scope?.value !== 'string' || !isScope(scope.value)) {
      return this.wrong(
        scope?.range ?? map.range,
        'scope: expected an operation or a class, for example open or meta_op',
      )
    }
    const at = values.get('at') ?? { value: 0, range: map.range }
    const atS = at.value
    if (typeof atS !== 'number' || !Number.isInteger(atS) || atS < 0 || atS > SECOND_MAX) {
      return this.wrong(at.range, `at: expected a second, 0 to ${SECOND_MAX}`)
    }
    const number = values.get('rule') ?? { value: index + 1, range: map.range }
    if (typeof number.value !== 'number' || !Number.isSafeInteger(number.value) || number.value < 0) {
      return this.wrong(number.range, 'rule: expected a number')
    }
    const { line, col: column } = this.#lines.linePos(map.range?.[0] ?? 0)
    const policy: Policy = { line, rule: number.value, atS, kind, job: name, scope: scope.value, value: rate }
    this.#starts.set(policy, { text: '', column })
    return policy
  }
}

/** Parses policies from YAML. */
export function parsePolicyYaml(text: string): PolicyFile {
  const lines = new LineCounter()
  // Keys are compared here: the parser compares each with all earlier ones, and cuts a piece of the text for each
  // error.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false })
  const reader = new PolicyReader(lines)
  for (const e of document.errors) {
    reader.wrong(e.pos, e.message.split('\n')[0] ?? '')
  }
  const done = (policies: readonly Policy[]): PolicyFile => ({
    format: 'yaml',
    policies,
    faults: [...reader.faults].sort((a, b) => a.line - b.line || a.column - b.column),
  })
  if (document.errors.length > 0) return done([])
  const root: unknown = document.contents
  const list: unknown = isMap(root) ? root.get('policies', true) : root
  if (isMap(root)) {
    let lists = 0
    for (const { key } of root.items) {
      if (isScalar(key) && key.value === 'policies' && ++lists === 1) continue
      reader.wrong(
        isScalar(key) ? key.range : root.range,
        lists > 1 ? '"policies" occurs twice' : 'only "policies" is allowed here',
      )
    }
  }
  if (root === null || (isScalar(list) && list.value === null)) return done([])
  if (!isSeq(list)) {
    reader.wrong(isMap(root) ? root.range : undefined, 'expected "policies:" with a list')
    return done([])
  }
  if (list.items.length > LINES_MAX) reader.wrong(list.range, `only ${LINES_MAX} policies are read`)
  const policies = list.items.slice(0, LINES_MAX).flatMap((item, i) => {
    if (isMap(item)) return reader.policy(item, i) ?? []
    return (
      reader.wrong(
        isScalar(item) || isSeq(item) ? item.range : list.range,
        'expected a policy: { at, limit or demand, job, scope }',
      ) ?? []
    )
  })
  reader.faults.push(...duplicateFaults(policies, (p) => reader.startOf(p)))
  return done(policies)
}

/** Formats policies as YAML; ambiguous text is quoted. `user` and `mds` policies are omitted. */
export function printPolicyYaml(policies: readonly Policy[]): string {
  const lines = policies.flatMap(({ rule, atS, kind, job, scope, value }) =>
    kind === 'limit' || kind === 'demand'
      ? [`  - { rule: ${rule}, at: ${atS}, ${kind}: ${value}, job: ${JSON.stringify(job)}, scope: ${scope} }\n`]
      : [],
  )
  return lines.length === 0 ? 'policies: []\n' : `policies:\n${lines.join('')}`
}

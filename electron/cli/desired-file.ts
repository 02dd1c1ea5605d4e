/**
 * Desired rules of a service, as a YAML file:
 *
 * ```yaml
 * rules:
 *   - { match: "jobid={hog.n01}", rate: 50, queue: reg }
 * ```
 *
 * Rules are placed in file order before all others; `rank` names the rule before which a rule is placed instead.
 */
import { readFileSync } from 'node:fs'
import { isMap, isSeq, LineCounter, parseDocument, type Document, type Node, type Pair } from 'yaml'
import * as z from 'zod'
import { shortHash } from '#core/base/hash.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { OPERATOR_PREFIX } from '#core/controllers/registry.ts'
import { RATE_MAX } from '#core/lustre/nrs-tbf-rule.ts'

const FILE_BYTES = 1 << 20
const RULES = 100

/** Characters allowed in `match`: those that Lustre's grammar needs. The schema below names the refused ones. */
const MATCH = /^[A-Za-z0-9 .,:*?!@_/+#%=~^&{}<>[\]-]+$/

const rule = z.strictObject({
  match: z
    .string()
    .min(1)
    .max(4096)
    .regex(MATCH, 'quotes, backslashes, $, `, ;, |, () and non-ASCII characters are not allowed'),
  rate: z.number().int().min(1).max(RATE_MAX),
  queue: z.enum(['reg', 'hp', 'both']).default('reg'),
  rank: z
    .string()
    .regex(/^[A-Za-z0-9_]{1,15}$/)
    .optional(),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_]{1,15}$/)
    .optional(),
})
const content = z.strictObject({ rules: z.array(rule).max(RULES) })

export interface DesiredRule {
  readonly name: string
  readonly match: string
  /** RPC/s per class. */
  readonly rate: number
  readonly queue: 'reg' | 'hp' | 'both'
  /** Rule to insert before. */
  readonly rank: string | undefined
  /** Line in the file, from 1. */
  readonly line: number
}

/** Derives the name of an unnamed rule from its match and queue, so that later plans recognize it. */
export const nameFor = (match: string, queue: string): string =>
  `${OPERATOR_PREFIX}${shortHash(`${queue}\u0000${match}`)}`

const keyOf = ({ key }: Pair): string =>
  key !== null && typeof key === 'object' && 'value' in key ? String(key.value) : String(key)

/** YAML node of an issue: an unknown key itself, otherwise the value at its path. */
function nodeAt(document: Document, issue: z.core.$ZodIssue): Node | undefined {
  const path = issue.path.map((p) => (typeof p === 'symbol' ? String(p) : p))
  const at = path.length === 0 ? document.contents : document.getIn(path, true)
  if (issue.code === 'unrecognized_keys' && isMap(at)) {
    const pair = at.items.find((p) => issue.keys.includes(keyOf(p)))
    if (pair?.key && typeof pair.key === 'object') return pair.key as Node
  }
  if (at && typeof at === 'object' && 'range' in at) return at as Node
  return path.length === 0 ? undefined : nodeAt(document, { ...issue, path: issue.path.slice(0, -1) })
}

/** Parses the text of a desired-rules file. Failure: DESIRED_UNREADABLE, with the line. */
export function parseDesired(text: string, path: string): Result<DesiredRule[]> {
  const unreadable = (why: string): Result<never> =>
    fail({
      code: 'DESIRED_UNREADABLE',
      what: `The rules in ${path} cannot be read`,
      why,
      unaffected: 'Nothing was planned.',
      next: 'A rule has match and rate, and may have queue, rank and name.',
    })
  const counter = new LineCounter()
  const document = parseDocument(text, { prettyErrors: true, lineCounter: counter })
  const lineOf = (node: Node | null | undefined): number => counter.linePos(node?.range?.[0] ?? 0).line
  const [error] = document.errors
  if (error) return unreadable(error.message.split('\n')[0] ?? 'it is not YAML')
  let value: unknown
  try {
    // Aliases are refused: they may expand to very large text.
    value = document.toJS({ maxAliasCount: 0 })
  } catch (e) {
    return unreadable(e instanceof Error ? e.message : 'it has an alias')
  }
  const parsed = content.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    if (!issue) return unreadable('it does not match the format')
    const where = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
    return unreadable(`line ${lineOf(nodeAt(document, issue))}: ${where}${issue.message}`)
  }
  const items = document.get('rules', true)
  const out: DesiredRule[] = []
  for (const [i, r] of parsed.data.rules.entries()) {
    const line = lineOf(isSeq(items) ? (items.items[i] as Node) : undefined)
    const name = r.name ?? nameFor(r.match, r.queue)
    const same = out.find((o) => o.name === name)
    if (same) return unreadable(`line ${line}: ${name} is already in line ${same.line}`)
    out.push({ ...r, rank: r.rank, name, line })
  }
  return ok(out)
}

export function readDesired(path: string): Result<DesiredRule[]> {
  let text: string
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
    return fail({ code: 'DESIRED_UNREADABLE', what: `The rules in ${path} cannot be read`, why })
  }
  if (text.length > FILE_BYTES) {
    return fail({ code: 'DESIRED_UNREADABLE', what: `${path} has more than ${FILE_BYTES} bytes` })
  }
  return parseDesired(text, path)
}

/**
 * Returns the start order that yields the order of the file: a start without a rank inserts at the head, and one with a rank needs
 * the rule it names. Failure: DESIRED_RANKS for circular ranks.
 */
export function startOrder(rules: readonly DesiredRule[]): Result<DesiredRule[]> {
  const waiting = [...rules].reverse()
  const out: DesiredRule[] = []
  while (waiting.length > 0) {
    const at = waiting.findIndex((r) => !waiting.some((w) => w !== r && w.name === r.rank) && r.rank !== r.name)
    const [next] = at < 0 ? [] : waiting.splice(at, 1)
    if (!next) {
      const names = waiting.map((w) => `${w.name} (line ${w.line})`).join(', ')
      return fail({
        code: 'DESIRED_RANKS',
        what: 'The rules cannot be ordered',
        why: `the ranks of ${names} are circular`,
        unaffected: 'Nothing was planned.',
        next: 'Remove one rank.',
      })
    }
    out.push(next)
  }
  return ok(out)
}

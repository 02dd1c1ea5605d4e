/**
 * Commands written to `nrs_tbf_rule`: `[reg|hp] start NAME CONDS [PAIRS] | change NAME PAIRS | stop NAME`.
 *
 * Source: spec/lustre 1.2, with its order of checks: length, selector and space, queue, verb, name, conditions, pairs.
 */
import { ok, type Result } from '../base/result.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import { RATE_MIN } from '../lustre/nrs-tbf-rule.ts'
import { RULE_DIALECTS, type RuleDialect } from '../lustre/rule-dialect.ts'
import { parseConditions, type Conditions } from './conditions.ts'
import { cut, isWordByte, kernelNumber, piece, split, splitOnce, type Piece } from './kernel-text.ts'
import type { Nodemaps } from './nodemaps.ts'
import { fault, moved, nearest, shown, type RuleFault } from './rule-fault.ts'
import type { TbfType } from './tbf-type.ts'

/** Longest rule name, bytes. */
export const RULE_NAME_MAX = 15
/** Longest value, bytes. */
export const COMMAND_MAX = 4095

interface Pairs {
  readonly rate: number | undefined
  readonly rank: string | undefined
  readonly realtime: boolean
}

export type RuleCommand = { readonly queue: Queue | undefined; readonly name: string } & (
  | ({
      readonly verb: 'start'
      /** Conditions as typed, leading blanks included. */
      readonly conditions: string
      /** Parsed conditions; absent if the running type is unknown. */
      readonly parsed?: Conditions
    } & Pairs)
  | ({ readonly verb: 'change' } & Pairs)
  | { readonly verb: 'stop' }
)

/** Context for parsing a value. */
export interface RuleGrammar {
  /** The release; the development line when absent. */
  readonly rules?: RuleDialect
  /** Type that runs on the addressed queues; null = TBF does not run; absent: conditions are not parsed. */
  readonly type?: TbfType | null
  readonly nodemaps?: Nodemaps | undefined
  /** True if the service has a high-priority queue; default true. */
  readonly hp?: boolean
}

type Verb = RuleCommand['verb']
const VERBS: readonly string[] = ['start', 'change', 'stop'] satisfies Verb[]

/** Fault of a rule's name; undefined if it is valid. */
export function nameFault(p: Piece, rules: RuleDialect): RuleFault | undefined {
  const name = p.text
  const bad = (at: number, length: number, why: string, errno?: 'ENAMETOOLONG'): RuleFault =>
    fault(p.at + at, length, why, errno).error
  if (name === '' && rules.checksNames) return bad(0, 0, 'a rule needs a name')
  // An invalid byte among the first 16 takes precedence over the length; releases that do not check the length check all bytes.
  const looked = rules.checksNames ? RULE_NAME_MAX + 1 : name.length
  for (let i = 0; i < Math.min(name.length, looked); i++) {
    if (!isWordByte(name[i] as string)) return bad(i, 1, `${shown(name[i] as string)} cannot be in a rule's name`)
  }
  if (name.length <= RULE_NAME_MAX || !rules.checksNames) return undefined
  return bad(
    RULE_NAME_MAX,
    name.length - RULE_NAME_MAX,
    `a rule's name has at most ${RULE_NAME_MAX} characters`,
    'ENAMETOOLONG',
  )
}

const inPart = <T>(r: Result<T, RuleFault>, part: RuleFault['part']): Result<T, RuleFault> =>
  r.ok || part === undefined ? r : { ok: false, error: moved(r.error, 0, part) }

function parseRate(p: Piece, rules: RuleDialect): Result<number, RuleFault> {
  const n = kernelNumber(p.text, 10)
  if (n === undefined) return fault(p.at, p.text.length, `rate ${shown(p.text)} is not a whole decimal number`)
  if (n < BigInt(RATE_MIN)) return fault(p.at, p.text.length, `rate ${shown(p.text)} is below ${RATE_MIN}`)
  if (n > BigInt(rules.rateMax)) return fault(p.at, p.text.length, `rate ${shown(p.text)} is above ${rules.rateMax}`)
  return ok(Number(n))
}

function parsePair(
  p: Piece,
  pairs: { -readonly [K in keyof Pairs]: Pairs[K] },
  verb: Verb,
  rules: RuleDialect,
): RuleFault | undefined {
  const sides = splitOnce(p, '=')
  if (!sides || sides[1].text === '') {
    const why = p.text === '' ? 'two blanks in a row' : `${shown(p.text)} is not one of rate=, rank=, realtime=`
    return fault(p.at, p.text.length, why).error
  }
  const [key, value] = sides
  if (key.text === 'rate' || key.text === 'rank') {
    const rate = key.text === 'rate' ? parseRate(value, rules) : undefined
    const bad = key.text === 'rank' ? nameFault(value, rules) : undefined
    const refused = rate?.ok === false ? rate.error : bad
    if (refused) return { ...refused, errno: 'EINVAL', part: key.text }
    if (verb === 'stop')
      return { ...fault(p.at, p.text.length, `stop does not allow ${key.text}=`).error, part: key.text }
    if (rate?.ok) pairs.rate = rate.value
    else pairs.rank = value.text
    return undefined
  }
  if (key.text !== 'realtime') {
    const why = `unknown word ${shown(key.text)}=${nearest(key.text, ['rate', 'rank', 'realtime'])}`
    return fault(key.at, key.text.length, why).error
  }
  const n = kernelNumber(value.text, 10)
  if (n === undefined)
    return {
      ...fault(value.at, value.text.length, `realtime ${shown(value.text)} is not a number`).error,
      part: 'realtime',
    }
  pairs.realtime = n > 0n
  return undefined
}

/** Pairs are separated by exactly one blank; a trailing one is tolerated. All their faults are EINVAL. */
function parsePairs(p: Piece, verb: Verb, rules: RuleDialect): Result<Pairs, RuleFault> {
  const pairs = { rate: undefined, rank: undefined, realtime: false }
  const words = split(p, ' ')
  if ((words[words.length - 1] as Piece).text === '') words.pop()
  for (const word of words) {
    const bad = parsePair(word, pairs, verb, rules)
    if (bad) return inPart({ ok: false, error: bad }, 'rate')
  }
  return ok(pairs)
}

/** Splits off the conditions, which end at the last closing brace followed by a blank or the end. */
function splitStart(tail: Piece): Result<readonly [conditions: Piece, pairs: Piece], RuleFault> {
  const brace = tail.text.lastIndexOf('}')
  if (brace < 0) {
    const why = /\{/.test(tail.text) ? 'the list has no }' : 'conditions field={items} are missing'
    return fault(tail.at, tail.text.length, why)
  }
  const after = tail.text[brace + 1]
  if (after !== undefined && after !== ' ') {
    return fault(tail.at + brace + 1, 1, `${shown(after)} follows the conditions, expected a blank`)
  }
  return ok([cut(tail, 0, brace + 1), cut(tail, Math.min(brace + 2, tail.text.length))])
}

function parseStart(
  tail: Piece,
  head: { queue: Queue | undefined; name: string },
  g: RuleGrammar,
): Result<RuleCommand, RuleFault> {
  const rules = g.rules ?? RULE_DIALECTS.dev
  const parts = inPart(splitStart(tail), 'conditions')
  if (!parts.ok) return parts
  const [conditions, rest] = parts.value
  let parsed: Conditions | undefined
  if (g.type === null)
    return inPart(fault(conditions.at, conditions.text.length, 'TBF does not run on this queue'), 'conditions')
  if (g.type) {
    const read = parseConditions(conditions.text, g.type.fields, { rules, nodemaps: g.nodemaps })
    if (!read.ok) return { ok: false, error: moved(read.error, conditions.at, 'conditions') }
    parsed = { ...read.value, cautions: read.value.cautions.map((c) => moved(c, conditions.at)) }
  }
  const pairs = parsePairs(rest, 'start', rules)
  if (!pairs.ok) return pairs
  return ok({ verb: 'start', ...head, conditions: conditions.text, ...(parsed ? { parsed } : {}), ...pairs.value })
}

/** Parses one value written to nrs_tbf_rule. Faults have offsets in `value`; their errno is the server's. */
export function parseRuleCommand(value: string, grammar: RuleGrammar = {}): Result<RuleCommand, RuleFault> {
  const rules = grammar.rules ?? RULE_DIALECTS.dev
  if (value.length > COMMAND_MAX) {
    return fault(
      COMMAND_MAX,
      value.length - COMMAND_MAX,
      `a command has at most ${COMMAND_MAX} bytes, this has ${value.length}`,
    )
  }
  const nul = value.indexOf('\u0000')
  const command = piece(nul < 0 ? value : value.slice(0, nul))
  const words = splitOnce(command, ' ')
  if (!words) return fault(command.text.length, 0, 'expected start, change or stop, and a name')
  let [verb, rest] = words
  let queue: Queue | undefined
  if (verb.text === 'reg' || verb.text === 'hp') {
    queue = verb.text
    if (rest.text === '') return inPart(fault(rest.at, 0, 'expected start, change or stop'), 'verb')
    if (queue === 'hp' && grammar.hp === false) {
      return inPart(fault(0, 2, 'this service has no high-priority queue', 'ENODEV'), 'queue')
    }
    ;[verb, rest] = splitOnce(rest, ' ') ?? [rest, cut(rest, rest.text.length)]
  }
  // A server checks the name before the verb, but a wrong verb is the more helpful message.
  const isVerb = (text: string): text is Verb => VERBS.includes(text)
  if (!isVerb(verb.text)) {
    return inPart(
      fault(verb.at, verb.text.length, `unknown command ${shown(verb.text)}${nearest(verb.text, VERBS)}`),
      'verb',
    )
  }
  if (rest.text === '') return inPart(fault(rest.at, 0, 'a rule needs a name'), 'name')
  const [name, tail] = splitOnce(rest, ' ') ?? [rest, undefined]
  if (!tail && verb.text !== 'stop') {
    const isStart = verb.text === 'start'
    const missing = fault(
      rest.at + rest.text.length,
      0,
      isStart ? 'conditions are missing' : 'rate= or rank= is missing',
    )
    return inPart(missing, isStart ? 'conditions' : 'rate')
  }
  const bad = nameFault(name, rules)
  if (bad) return { ok: false, error: { ...bad, part: 'name' } }
  const head = { queue, name: name.text }
  if (verb.text === 'start') return parseStart(tail as Piece, head, grammar)
  const pairs = parsePairs(tail ?? cut(rest, rest.text.length), verb.text, rules)
  if (!pairs.ok) return pairs
  if (verb.text === 'stop') return ok({ verb: 'stop', ...head })
  if (pairs.value.rate === undefined && pairs.value.rank === undefined) {
    return inPart(fault(command.text.length, 0, 'a change needs rate= or rank='), 'rate')
  }
  return ok({ verb: 'change', ...head, ...pairs.value })
}

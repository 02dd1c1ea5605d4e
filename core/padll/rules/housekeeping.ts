/**
 * Housekeeping rules: the channels of a stage and their enforcement objects, one per line.
 *
 *     <rule> create_channel <channel> <context type> <workflow> <operation> <class>
 *     <rule> create_object <channel> <object> <context type> <operation> <class> <drl|noop> <refill us> <rate>
 *
 * Source: spec/padll 2. As upstream reads them: all channels come before all objects, whatever their order in the file.
 */
import { CONTEXT_TYPES, type ContextType, isOperationContext, isOperationType } from '../vocabulary.ts'
import type { OperationContext, OperationType } from '../vocabulary.ts'
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

export type HousekeepingRule =
  | {
      readonly kind: 'create_channel'
      readonly rule: number
      readonly channel: number
      readonly contextType: ContextType
      /** Workflow id, 0 for any. */
      readonly workflow: number
      readonly type: OperationType
      readonly context: OperationContext
    }
  | {
      readonly kind: 'create_object'
      readonly rule: number
      readonly channel: number
      readonly object: number
      readonly contextType: ContextType
      readonly type: OperationType
      readonly context: OperationContext
      /** Token bucket with its refill period and rate, or none. */
      readonly bucket: { readonly refillUs: number; readonly rate: number } | null
    }

/** Channel, object, workflow and rule numbers are 32-bit on the wire. */
export const NUMBER_MAX = 0xffff_ffff
export const REFILL_US = { least: 100, most: 3_600_000_000 } as const
/** Rate above any that a stage could serve: `drl 10000 1073741824` is upstream's form of unlimited. */
export const HOUSEKEEPING_RATE_MAX = 2 ** 40

const CHANNEL_FIELDS = ['rule', 'create_channel', 'channel', 'context-type', 'workflow', 'operation', 'class'] as const
const OBJECT_FIELDS = [
  'rule',
  'create_object',
  'channel',
  'object',
  'context-type',
  'operation',
  'class',
  'drl|noop',
  'refill-us',
  'rate',
] as const

/** Parses one rule field by field; keeps the first fault. */
class RuleReader {
  readonly #line: number
  readonly #fields: readonly Word[]
  fault: RuleFault | undefined

  constructor(line: number, fields: readonly Word[]) {
    this.#line = line
    this.#fields = fields
  }

  #wrong(index: number, message: string): void {
    const word = this.#fields[index]
    if (word) this.fault ??= faultAt(this.#line, word, message)
  }

  whole(index: number, what: string, least: number, most: number): number {
    const text = this.#fields[index]?.text ?? ''
    const n = parseInteger(text, least, most)
    if (n === undefined)
      this.#wrong(index, `"${shown(text)}" is not a valid ${what}: expected a whole number, ${least} to ${most}`)
    return n ?? least
  }

  word<W extends string>(index: number, what: string, is: (text: string) => text is W, otherwise: W): W {
    const text = this.#fields[index]?.text ?? ''
    if (is(text)) return text
    this.#wrong(index, `"${shown(text)}" is not a valid ${what}`)
    return otherwise
  }
}

const isContextType = (text: string): text is ContextType => Object.hasOwn(CONTEXT_TYPES, text)
const isBucket = (text: string): text is 'drl' | 'noop' => text === 'drl' || text === 'noop'

function readRule(line: number, fields: readonly Word[]): HousekeepingRule | RuleFault {
  const kind = fields[1]
  if (!kind) return fieldCountFault(line, fields, CHANNEL_FIELDS)!
  const isChannel = kind.text === 'create_channel'
  if (!isChannel && kind.text !== 'create_object') {
    return faultAt(
      line,
      kind,
      `"${shown(kind.text)}" is not a rule of a stage: expected create_channel or create_object`,
    )
  }
  const counted = fieldCountFault(line, fields, isChannel ? CHANNEL_FIELDS : OBJECT_FIELDS)
  if (counted) return counted
  const r = new RuleReader(line, fields)
  const rule = r.whole(0, 'rule number', 0, NUMBER_MAX)
  const channel = r.whole(2, 'channel number', 0, NUMBER_MAX)
  let read: HousekeepingRule
  if (isChannel) {
    const contextType = r.word(3, `context type (${Object.keys(CONTEXT_TYPES).join(', ')})`, isContextType, 'general')
    const workflow = r.whole(4, 'workflow', 0, NUMBER_MAX)
    const type = r.word(5, 'operation', isOperationType, 'no_op')
    const context = r.word(6, 'class', isOperationContext, 'no_op')
    read = { kind: 'create_channel', rule, channel, contextType, workflow, type, context }
  } else {
    const object = r.whole(3, 'object number', 0, NUMBER_MAX)
    const contextType = r.word(4, `context type (${Object.keys(CONTEXT_TYPES).join(', ')})`, isContextType, 'general')
    const type = r.word(5, 'operation', isOperationType, 'no_op')
    const context = r.word(6, 'class', isOperationContext, 'no_op')
    const isDrl = r.word(7, 'enforcement object: expected drl or noop', isBucket, 'noop') === 'drl'
    const refillUs = r.whole(8, 'refill period in us', isDrl ? REFILL_US.least : 0, REFILL_US.most)
    const rate = r.whole(9, 'rate in op/s', isDrl ? 1 : 0, HOUSEKEEPING_RATE_MAX)
    const bucket = isDrl ? { refillUs, rate } : null
    read = { kind: 'create_object', rule, channel, object, contextType, type, context, bucket }
  }
  return r.fault ?? read
}

export interface HousekeepingFile {
  /** Channels first, each kind in the order of the file; faulty lines are omitted. */
  readonly rules: readonly HousekeepingRule[]
  readonly faults: readonly RuleFault[]
}

/** Parses a housekeeping file. Skips empty lines and lines beginning with `#`; valid lines are kept. */
export function parseHousekeeping(text: string): HousekeepingFile {
  const faults: RuleFault[] = []
  const channels: HousekeepingRule[] = []
  const objects: HousekeepingRule[] = []
  const seen = new Map<string, number>()
  const objectLines: { readonly line: number; readonly word: Word; readonly channel: number }[] = []
  for (const { line, text: raw } of ruleLines(text, faults)) {
    const fields = splitFields(raw)
    const read = readRule(line, fields)
    if ('severity' in read) {
      faults.push(read)
      continue
    }
    const id =
      read.kind === 'create_channel' ? `channel ${read.channel}` : `object ${read.object} of channel ${read.channel}`
    const before = seen.get(id)
    const word = fields[read.kind === 'create_channel' ? 2 : 3]
    if (before !== undefined && word) {
      faults.push(faultAt(line, word, `${id} already exists, in line ${before}`))
      continue
    }
    seen.set(id, line)
    if (read.kind === 'create_channel') channels.push(read)
    else {
      objects.push(read)
      if (fields[2]) objectLines.push({ line, word: fields[2], channel: read.channel })
    }
  }
  const valid = objects.filter((_, i) => {
    const { line, word, channel } = objectLines[i]!
    if (seen.has(`channel ${channel}`)) return true
    faults.push(faultAt(line, word, `there is no channel ${channel} in this file`))
    return false
  })
  return { rules: [...channels, ...valid], faults: faults.sort((a, b) => a.line - b.line) }
}

/** Formats a rule as a line of the file, without line end. */
export function printHousekeeping(r: HousekeepingRule): string {
  if (r.kind === 'create_channel') {
    return `${r.rule} create_channel ${r.channel} ${r.contextType} ${r.workflow} ${r.type} ${r.context}`
  }
  const bucket = r.bucket ? `drl ${r.bucket.refillUs} ${r.bucket.rate}` : 'noop 0 0'
  return `${r.rule} create_object ${r.channel} ${r.object} ${r.contextType} ${r.type} ${r.context} ${bucket}`
}

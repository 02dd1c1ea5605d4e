/**
 * Items inside the braces of `field={item item}`: a parser for each field.
 *
 * Source: spec/lustre 1.2, table of items.
 */
import { ok, type Result } from '../base/result.ts'
import { JOB_ID_MAX } from '../lustre/job-id.ts'
import type { RuleDialect } from '../lustre/rule-dialect.ts'
import { jobIdPattern } from './job-id-pattern.ts'
import { kernelNumber, kernelU32, type Piece } from './kernel-text.ts'
import { hasZeroStride, nidMatches, parseNid, parseNidRange, type NidRange } from './nid.ts'
import type { Nodemaps } from './nodemaps.ts'
import { UNKNOWN_ID, type Field, type RequestKey } from './request-key.ts'
import { RPC_OPCODES, UNSAFE_OPCODE } from './rpc-opcodes.ts'
import { fault, nearest, shown, type RuleFault } from './rule-fault.ts'

export type Match = (request: RequestKey) => boolean

export interface ItemContext {
  readonly rules: RuleDialect
  /** Nodemaps of the server; absent: any name is accepted and matches nothing. */
  readonly nodemaps?: Nodemaps | undefined
  /** Receives warnings: items that a server accepts but that are probably not intended. */
  readonly caution: (f: RuleFault) => void
}

type ReadItems = (items: readonly Piece[], context: ItemContext) => Result<Match, RuleFault>

const caution = (p: Piece, why: string, isMishandled = false): RuleFault => ({
  errno: 'EINVAL',
  at: p.at,
  length: p.text.length,
  why,
  part: 'conditions',
  ...(isMishandled ? { isMishandled: true } : {}),
})

const readJobIds: ReadItems = (items, context) => {
  for (const item of items) {
    const least = item.text.replaceAll('*', '').length
    if (least > JOB_ID_MAX)
      context.caution(caution(item, `job ids have at most ${JOB_ID_MAX} bytes, this has ${least}`))
  }
  const patterns = items.map((i) => jobIdPattern(i.text))
  return ok((r) => patterns.some((p) => p(r.jobId)))
}

const readNids: ReadItems = (items, context) => {
  const ranges: NidRange[] = []
  for (const item of items) {
    const range = parseNidRange(item, context.rules)
    if (!range.ok) return range
    if (hasZeroStride(range.value))
      context.caution(caution(item, `${shown(item.text)} makes a server divide by zero`, true))
    ranges.push(range.value)
  }
  return ok((r) => {
    const nid = parseNid(r.nid)
    return nid !== undefined && ranges.some((range) => nidMatches(range, nid))
  })
}

const readOpcodes: ReadItems = (items, { rules, caution: warn }) => {
  const names = new Set<string>()
  for (const item of items) {
    const number = rules.lacksOpcodes.includes(item.text) ? undefined : RPC_OPCODES.get(item.text)
    if (number === undefined) {
      const known = [...RPC_OPCODES.keys()].filter((n) => !rules.lacksOpcodes.includes(n))
      return fault(item.at, item.text.length, `unknown opcode ${shown(item.text)}${nearest(item.text, known)}`)
    }
    if (number >= UNSAFE_OPCODE) {
      warn(caution(item, `${item.text} is RPC ${number}: servers write outside their opcode map for it`, true))
    }
    names.add(item.text)
  }
  return ok((r) => r.opcode !== undefined && names.has(r.opcode))
}

const readIds =
  (id: (r: RequestKey) => number | undefined): ReadItems =>
  (items, { rules, caution: warn }) => {
    const ids = new Set<number>()
    for (const item of items) {
      const n = rules.readsCNumbers ? kernelNumber(item.text, 0) : kernelU32(item.text, false)
      if (n === undefined) {
        return fault(item.at, item.text.length, `${shown(item.text)} is not an id, expected a number`)
      }
      const id = Number(BigInt.asUintN(32, BigInt(n)))
      if (BigInt(id) !== BigInt(n)) warn(caution(item, `${shown(item.text)} is truncated to 32 bits and means ${id}`))
      else if (/^\+?0[0-7]+$/.test(item.text)) warn(caution(item, `${item.text} is octal and means ${id}`))
      ids.add(id)
    }
    return ok((r) => ids.has(id(r) ?? UNKNOWN_ID))
  }

const readNodemaps: ReadItems = (items, { nodemaps }) => {
  const ids = new Set<number>()
  for (const item of items) {
    if (!nodemaps) continue
    const id = nodemaps.idOf(item.text)
    if (id === undefined) {
      return fault(
        item.at,
        item.text.length,
        `no nodemap is called ${shown(item.text)}${nearest(item.text, nodemaps.names)}`,
      )
    }
    ids.add(id)
  }
  return ok((r) => r.nodemap !== undefined && ids.has(r.nodemap))
}

/** Item parsers by field. */
export const READ_ITEMS: Readonly<Record<Field, ReadItems>> = {
  jobid: readJobIds,
  nid: readNids,
  opcode: readOpcodes,
  uid: readIds((r) => r.uid),
  gid: readIds((r) => r.gid),
  projid: readIds((r) => r.projid),
  nodemap: readNodemaps,
}

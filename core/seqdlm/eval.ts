/**
 * Machine interface of the protocol's tables and rules: one JSON line in, one JSON line out. Input may be any text, so
 * the type of every field is checked here; the answers come from the code that the servers and clients run.
 */
import { fail, ok, type Result } from '../base/result.ts'
import { ExtentMap } from './extent-map.ts'
import { LockResource } from './lock-resource.ts'
import {
  covers,
  downgradeOf,
  isCompatible,
  isLockMode,
  join,
  selectMode,
  type LockMode,
  type LockState,
} from './modes.ts'
import { byPage } from './page-cache.ts'
import { DLM_BASIC, DLM_DATATYPE, DLM_LUSTRE, SEQDLM, type DlmPolicy } from './policy.ts'
import { EOF, lockRange, type LockRange } from './ranges.ts'
import { ServerLock } from './server-lock.ts'
import { insertMerged, mergeBlock, mergeTouching, slicedSn, yieldTo, type SnExtent } from './sn-merge.ts'

type Fields = Readonly<Record<string, unknown>>
type Code =
  'E_REQUEST' | 'E_OP' | 'E_MODE' | 'E_STATE' | 'E_KIND' | 'E_RANGE' | 'E_CLIENT' | 'E_EXTENTS' | 'E_POLICY' | 'E_FIELD'
interface Refusal {
  readonly code: Code
  readonly message: string
}
type Answer = Result<Fields, Refusal>

/** Maximum extents, locks or requests in one line. */
const MAX_ITEMS = 100_000
const PAGE = 4096

const refuse = (code: Code, message: string): Answer => fail({ code, message })

/** Reads the fields of one line; the first invalid field refuses the line and reads as a harmless value. */
class Reader {
  refusal: Refusal | null = null

  no(code: Code, message: string): void {
    this.refusal ??= { code, message }
  }

  mode(value: unknown): LockMode {
    if (isLockMode(value)) return value
    this.no('E_MODE', 'a mode must be PR, NBW, BW or PW')
    return 'PR'
  }

  state(value: unknown): LockState {
    if (value === 'GRANTED' || value === 'CANCELING') return value
    this.no('E_STATE', 'state must be GRANTED or CANCELING')
    return 'GRANTED'
  }

  flag(value: unknown): boolean {
    if (value !== undefined && value !== null && typeof value !== 'boolean')
      this.no('E_FIELD', 'a flag must be true or false')
    return value === true
  }

  list(value: unknown): readonly unknown[] {
    if (Array.isArray(value) && value.length <= MAX_ITEMS) return value as unknown[]
    this.no('E_FIELD', 'a list is missing or too long')
    return []
  }

  offset(value: unknown): number {
    if (value === 'EOF') return EOF
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
    this.no('E_RANGE', 'an offset must be a whole number of bytes')
    return 0
  }

  range({ start, end }: Fields): LockRange {
    const from = this.offset(start)
    const to = this.offset(end)
    if (from < EOF && from <= to) return lockRange(from, to)
    this.no('E_RANGE', 'a range must not be inverted')
    return lockRange(0, 0)
  }

  fields(value: unknown): Fields {
    if (isFields(value)) return value
    this.no('E_FIELD', 'a lock or request must be an object')
    return {}
  }

  snExtent(value: unknown): SnExtent {
    const [start, end, sn] = Array.isArray(value) ? (value as unknown[]).map((item) => this.offset(item)) : []
    if (start !== undefined && end !== undefined && sn !== undefined && start < end && sn !== EOF) {
      return { start, end, sn }
    }
    this.no('E_EXTENTS', 'an extent must be [start, end, sn] with start < end')
    return { start: 0, end: 1, sn: 0 }
  }

  extentMap(value: unknown): ExtentMap<SnExtent> {
    const map = new ExtentMap(slicedSn)
    for (const e of sorted(this.list(value).map((item) => this.snExtent(item)))) {
      if (map.overlapping(e.start, e.end).length > 0) this.no('E_EXTENTS', 'extents must not overlap')
      else map.insert(e)
    }
    return map
  }

  /** `er_policy: "strict"` takes early revocation literally: waiting requests do not bound the range (A7, A8). */
  policy({ policy, er_policy: erPolicy }: Fields): DlmPolicy {
    const name = typeof policy === 'string' ? policy.toLowerCase().replace(/^dlm[-_]?/, '') : 'seqdlm'
    const found = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined
    if (found === undefined) this.no('E_POLICY', `policy must be one of ${Object.keys(NAMED).join(', ')}`)
    const read = found ?? SEQDLM
    return erPolicy === 'strict' ? { ...read, queueLimits: false } : read
  }
}

const OPS: Readonly<Record<string, (fields: Fields, read: Reader) => Fields>> = {
  compatible: (f, read) => ({
    compatible: isCompatible(read.mode(f.new), read.mode(f.granted), read.state(f.state ?? 'GRANTED')),
  }),
  covers: (f, read) => ({ covers: covers(read.mode(f.held), read.mode(f.wanted ?? f.requested)) }),
  upgrade: (f, read) => ({ mode: join(read.mode(f.held), read.mode(f.requested)) }),
  downgrade: (f, read) => {
    const { mode: to, flushBefore } = downgradeOf(read.mode(f.mode), read.flag(f.readers_only))
    return { mode: to, flush_before: flushBefore }
  },
  select_mode: selectModeOp,
  expand_range: expandRange,
  merge: (f, read) => {
    const map = read.extentMap(f.entries)
    const update = read.list(f.blocks).flatMap((b) => mergeBlock(map, read.snExtent(b)))
    return { update: mergeTouching(sorted(update)).map(triple), cache: [...map].map(triple) }
  },
  client_write: (f, read) => {
    const map = read.extentMap(f.extents)
    const block = read.snExtent(f.write)
    if (![...map, block].every((e) => e.end <= PAGE * MAX_ITEMS)) {
      read.no('E_EXTENTS', 'extents reach too far')
      return {}
    }
    for (const won of yieldTo(map, block)) map.insert({ ...won, sn: block.sn })
    const merged = new ExtentMap(slicedSn)
    for (const e of map) insertMerged(merged, e)
    return { extents: byPage(merged, PAGE).map(triple) }
  },
}

/**
 * Evaluates modes, ranges and extents, line by line, without state between them.
 *
 * A line is `{"op",…}` with an op of `SEQDLM_OPS`; the answer is that op's, or `{"error":{"code","message"}}`.
 */
export class SeqdlmEval {
  /** Returns the answer to one line, without a line end. Never throws. */
  answer(line: string): string {
    const answered = answer(line)
    return JSON.stringify(answered.ok ? answered.value : { error: answered.error })
  }
}

export const SEQDLM_OPS: readonly string[] = Object.keys(OPS)

function answer(line: string): Answer {
  let fields: unknown
  try {
    fields = JSON.parse(line)
  } catch (error) {
    return refuse('E_REQUEST', `the line is not JSON: ${(error as SyntaxError).message}`)
  }
  if (!isFields(fields)) return refuse('E_REQUEST', 'the line must be a JSON object')
  const { op } = fields
  const run = typeof op === 'string' && Object.hasOwn(OPS, op) ? OPS[op] : undefined
  if (run === undefined) return refuse('E_OP', `op must be one of ${SEQDLM_OPS.join(', ')}`)
  const read = new Reader()
  const value = run(fields, read)
  return read.refusal === null ? ok(value) : fail(read.refusal)
}

function selectModeOp({ kind, resources, implicit_read: implicitRead }: Fields, read: Reader): Fields {
  const count = resources ?? 1
  const known = OPERATIONS.find((operation) => operation === kind)
  if (known === undefined) read.no('E_KIND', 'kind must be read, write, append or truncate')
  if (!Number.isSafeInteger(count) || (count as number) < 1) read.no('E_FIELD', 'resources must be >= 1')
  return { mode: selectMode(known ?? 'read', count as number, read.flag(implicitRead)) }
}

/** Applies the request to a resource with these locks and waiting requests, as if nothing denied it. */
function expandRange(f: Fields, read: Reader): Fields {
  const ids = new Map<string | number, number>()
  const client = (value: unknown): number => {
    if (typeof value !== 'string' && typeof value !== 'number') {
      read.no('E_CLIENT', 'client must be a name')
      return 0
    }
    if (!ids.has(value)) ids.set(value, ids.size)
    return ids.get(value) as number
  }
  const host = { policy: read.policy(f), send: () => {}, now: () => 0, newLockId: () => 0, observe: undefined }
  const resource = new LockResource(0, host)
  for (const [i, item] of read.list(f.granted ?? []).entries()) {
    const g = read.fields(item)
    const lockMode = read.mode(g.mode)
    const range = read.range(g)
    const lock = { client: client(g.client), reqId: 0, range, mode: lockMode, state: read.state(g.state ?? 'GRANTED') }
    resource.restore(new ServerLock({ ...lock, lockId: i + 1, sn: i + 1, minSn: i + 1 }))
  }
  for (const item of read.list(f.queued ?? [])) {
    const q = read.fields(item)
    const request = {
      kind: 'lock-request',
      resource: 0,
      reqId: 0,
      range: read.range(q),
      mode: read.mode(q.mode),
    } as const
    resource.enqueue(client(q.client), request)
  }
  const r = read.fields(f.request)
  const required = read.range(r)
  const granted = resource.preview(client(r.client), read.mode(r.mode), required)
  const { start, end } = granted.range
  return { start: offsetOut(start), end: offsetOut(end), expanded: end > required.end, state: granted.state }
}

const NAMED: Readonly<Record<string, DlmPolicy>> = {
  seqdlm: SEQDLM,
  basic: DLM_BASIC,
  lustre: DLM_LUSTRE,
  datatype: DLM_DATATYPE,
}

const OPERATIONS = ['read', 'write', 'append', 'truncate'] as const

const offsetOut = (value: number): number | 'EOF' => (value === EOF ? 'EOF' : value)

const sorted = (extents: readonly SnExtent[]): SnExtent[] => [...extents].sort((a, b) => a.start - b.start)
const triple = ({ start, end, sn }: SnExtent) => [offsetOut(start), offsetOut(end), sn]
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

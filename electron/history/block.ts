/**
 * Packed blocks: all jobs, all targets, the sums of the cluster, or the rows of a plane's table at one instant of one tier. Keys
 * (Uint32, ascending) and the first column form the lead; the other columns are stored separately, so that a query for RPC/s alone
 * reads no more. Columns are Float32, everything is little-endian, NaN is a gap. Reading returns views over the bytes. Sums have no
 * key. The other columns may be stored deflated: then their length is not a multiple of four.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { PLANE_TABLES, type RollUpOf } from '#core/series/plane-tables.ts'
import { CLUSTER_COLUMNS, JOB_COLUMNS, TARGET_COLUMNS, type Block } from './reader.ts'

export const KINDS = { jobs: 0, targets: 1, cluster: 2 } as const
export type SampleKind = (typeof KINDS)[keyof typeof KINDS]
export type PlaneKind = (typeof PLANE_TABLES)[number]['kind']
export type Kind = SampleKind | PlaneKind

export const PLANE_KINDS: readonly PlaneKind[] = PLANE_TABLES.map((t) => t.kind)
/** Every kind, samples first. */
export const ALL_KINDS: readonly Kind[] = [...Object.values(KINDS), ...PLANE_KINDS]
export const isPlane = (kind: Kind): kind is PlaneKind => kind > KINDS.cluster

/** Roll-up of each column of a block, by kind. A job's record is the last one named. */
export const ROLL_UPS: ReadonlyMap<Kind, readonly RollUpOf[]> = new Map<Kind, readonly RollUpOf[]>([
  [KINDS.jobs, JOB_COLUMNS.map((c) => (c === 'record' || c === 'recordRest' ? 'last' : 'rate'))],
  [KINDS.targets, TARGET_COLUMNS.map(() => 'mean')],
  [KINDS.cluster, CLUSTER_COLUMNS.map(() => 'mean')],
  ...PLANE_TABLES.map((t): [Kind, readonly RollUpOf[]] => [t.kind, t.columns.map((c) => c.rollUp)]),
])

/** Columns of a block, by kind. */
export const widthOf = (kind: Kind): number => (ROLL_UPS.get(kind) ?? []).length

export const RECORD = JOB_COLUMNS.indexOf('record')
export const RECORD_REST = JOB_COLUMNS.indexOf('recordRest')

/** The only key of a block of sums. */
export const TOTALS_KEY = 0

/** Contents of a block; arrays may be longer than `n`, keys in any order. */
export interface Columns {
  readonly n: number
  readonly keys: Uint32Array
  readonly columns: readonly Float32Array[]
}

const IS_LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1
/** Keys and positions are sorted as one double: 2^21 positions are exact beside 2^32 keys. */
const POSITIONS = 2 ** 21
export const SERIES_MAX = POSITIONS

const swapped = (data: Buffer): Buffer => (IS_LITTLE ? data : Buffer.from(data).swap32())

/** Positions by ascending key; undefined if already in order. */
function orderOf(keys: Uint32Array, n: number): Float64Array | undefined {
  let isSorted = true
  for (let i = 1; i < n && isSorted; i++) isSorted = (keys[i - 1] as number) < (keys[i] as number)
  if (isSorted) return undefined
  const order = new Float64Array(n)
  for (let i = 0; i < n; i++) order[i] = (keys[i] as number) * POSITIONS + i
  order.sort()
  for (let i = 0; i < n; i++) order[i] = (order[i] as number) % POSITIONS
  return order
}

/** Bytes of a block. */
export interface Packed {
  readonly n: number
  readonly lead: Buffer
  readonly rest: Buffer
}

const EMPTY = Buffer.alloc(0)
const DEFLATE_LEVEL = 1
const PAD = Buffer.alloc(1)

/**
 * Deflates the columns of a block, first bytes of all values first: their exponents resemble each other. Left as they are if that
 * is no shorter.
 */
export function deflated(packed: Packed): Packed {
  const { rest } = packed
  const count = rest.length / 4
  const planes = Buffer.allocUnsafe(rest.length)
  for (let i = 0, at = 0; i < count; i++, at += 4) {
    planes[i] = rest[at] as number
    planes[i + count] = rest[at + 1] as number
    planes[i + 2 * count] = rest[at + 2] as number
    planes[i + 3 * count] = rest[at + 3] as number
  }
  const stream = deflateRawSync(planes, { level: DEFLATE_LEVEL })
  // Inflating ends with the stream: a byte after it is ignored.
  const short = stream.length % 4 === 0 ? Buffer.concat([stream, PAD]) : stream
  return short.length < rest.length ? { n: packed.n, lead: packed.lead, rest: short } : packed
}

/** Packs a block. A `recordRest` column of zeros is omitted: nearly every block has one. */
export function pack(kind: Kind, { n, keys, columns }: Columns): Packed {
  if (kind === KINDS.cluster) {
    const sums = Float32Array.from(columns, (c) => c[0] ?? NaN)
    return { n: 1, lead: swapped(Buffer.from(sums.buffer)), rest: EMPTY }
  }
  let width = widthOf(kind)
  if (kind === KINDS.jobs) {
    const rest = columns[RECORD_REST] as Float32Array
    let isPlain = true
    for (let i = 0; i < n && isPlain; i++) isPlain = !(Math.abs(rest[i] as number) > 0)
    if (isPlain) width = RECORD_REST
  }
  const bytes = new ArrayBuffer(4 * n * (1 + width))
  const order = orderOf(keys, n)
  const outKeys = new Uint32Array(bytes, 0, n)
  if (order) for (let i = 0; i < n; i++) outKeys[i] = keys[order[i] as number] as number
  else outKeys.set(keys.subarray(0, n))
  for (let c = 0; c < width; c++) {
    const from = columns[c] as Float32Array
    const to = new Float32Array(bytes, 4 * n * (1 + c), n)
    if (order) for (let i = 0; i < n; i++) to[i] = from[order[i] as number] as number
    else to.set(from.subarray(0, n))
  }
  return { n, lead: swapped(Buffer.from(bytes, 0, 8 * n)), rest: swapped(Buffer.from(bytes, 8 * n)) }
}

/** Typed-array views need aligned offsets. */
const aligned = (data: Buffer): Buffer => {
  const bytes = swapped(data)
  return bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer)
}

/** Zeros in place of an omitted column. */
let zeros = new Float32Array(1024)
const NO_KEYS = new Uint32Array([TOTALS_KEY])

/** Reads the keys and first column of a block; undefined if the bytes are not valid. */
export function unpackLead(n: number, lead: Buffer): { keys: Uint32Array; first: Float32Array } | undefined {
  if (lead.length !== 8 * n) return undefined
  const bytes = aligned(lead)
  return {
    keys: new Uint32Array(bytes.buffer, bytes.byteOffset, n),
    first: new Float32Array(bytes.buffer, bytes.byteOffset + 4 * n, n),
  }
}

/** Columns of a block, of at most `most` bytes, inflated if they are deflated; what is not valid is empty. */
function inflated(data: Buffer, most: number): Buffer {
  if (data.length % 4 === 0) return data
  try {
    const planes = inflateRawSync(data, { maxOutputLength: most })
    if (planes.length % 4 !== 0) return EMPTY
    const bytes = Buffer.allocUnsafeSlow(planes.length)
    const count = planes.length / 4
    for (let i = 0, at = 0; i < count; i++, at += 4) {
      bytes[at] = planes[i] as number
      bytes[at + 1] = planes[i + count] as number
      bytes[at + 2] = planes[i + 2 * count] as number
      bytes[at + 3] = planes[i + 3 * count] as number
    }
    return bytes
  } catch {
    return EMPTY
  }
}

/** Reads a block; undefined if the bytes are not valid. */
export function unpack(kind: Kind, atMs: number, { n, lead, rest: stored }: Packed): Block | undefined {
  const width = widthOf(kind)
  if (kind === KINDS.cluster) {
    if (lead.length !== 4 * width) return undefined
    const bytes = aligned(lead)
    const columns = Array.from({ length: width }, (_, c) => new Float32Array(bytes.buffer, bytes.byteOffset + 4 * c, 1))
    return { atMs, keys: NO_KEYS, columns }
  }
  const head = unpackLead(n, lead)
  const rest = inflated(stored, 4 * n * (width - 1))
  const length = rest.length === 4 * n * (width - 1)
  const isPlain = kind === KINDS.jobs && rest.length === 4 * n * (width - 2)
  if (!head || !(length || isPlain)) return undefined
  const bytes = aligned(rest)
  const columns = [head.first]
  for (let c = 1; c < width; c++) {
    if (length || c < RECORD_REST) columns.push(new Float32Array(bytes.buffer, bytes.byteOffset + 4 * n * (c - 1), n))
    else {
      if (zeros.length < n) zeros = new Float32Array(n)
      columns.push(zeros.subarray(0, n))
    }
  }
  return { atMs, keys: head.keys, columns }
}

/** Splits a record into its two stored parts. */
export const recordParts = (record: number): readonly [number, number] => {
  const lead = Math.fround(record)
  return [lead, record - lead]
}

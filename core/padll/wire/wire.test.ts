import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type {
  ChannelCounts,
  GlobalToLocal,
  Lease,
  LocalToGlobal,
  LocalToStage,
  StageIdentity,
  StageToLocal,
} from '../control/messages.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import {
  CONTEXT_TYPES,
  OPERATION_CONTEXTS,
  OPERATION_TYPES,
  type ContextType,
  type OperationContext,
  type OperationType,
  type Scope,
} from '../vocabulary.ts'
import { ByteReader, ByteWriter } from './bytes.ts'
import { FrameDecoder, HEAD_BYTES, type Dialect } from './frame.ts'
import { globalToLocal, localToGlobal } from './hierarchy-wire.ts'
import { localToStage, stageToLocal } from './stage-wire.ts'

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const count = fc.maxSafeNat()
const rate = fc.double({ min: 0, max: 1e15, noNaN: true, noDefaultInfinity: true }).map((r) => r + 0)
// Unicode without lone surrogates, and escaped bytes that are not UTF-8.
const text = (most: number): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 2 }), fc.constantFrom('\udcff', '\udc80', '\n', '"', "'")))
    .map((parts) => parts.join(''))
    .filter((t) => new ByteCount(t).bytes <= most)

class ByteCount {
  readonly bytes: number
  constructor(t: string) {
    const to = new ByteWriter()
    to.text(t, 60_000)
    const read = new ByteReader(to.bytes).text(60_000)
    // A pair of escaped bytes may come out as the character that they form.
    this.bytes = read === t ? to.length - 2 : Infinity
  }
}

const type = fc.constantFrom(...(Object.keys(OPERATION_TYPES) as OperationType[]))
const context = fc.constantFrom(...(Object.keys(OPERATION_CONTEXTS) as OperationContext[]))
const contextType = fc.constantFrom(...(Object.keys(CONTEXT_TYPES) as ContextType[]))
const scope = fc.oneof(type, context).filter((s): s is Scope => s !== 'no_op')
const identity: fc.Arbitrary<StageIdentity> = fc.record({
  job: text(200),
  instance: u32,
  pid: u32,
  ppid: u32,
  hostname: text(64),
  user: text(256),
})
const lease: fc.Arbitrary<Lease> = fc.record({
  ns: count,
  onExpiry: fc.oneof(fc.constant('hold' as const), fc.record({ rate })),
})
const counts: fc.Arbitrary<ChannelCounts> = fc.record({
  channel: u32,
  object: u32,
  scope,
  arrived: count,
  served: count,
  waited: count,
  queued: count,
  throttledNs: count,
})
const rule: fc.Arbitrary<HousekeepingRule> = fc.oneof(
  fc.record({
    kind: fc.constant('create_channel' as const),
    rule: u32,
    channel: u32,
    contextType,
    workflow: u32,
    type,
    context,
  }),
  fc.record({
    kind: fc.constant('create_object' as const),
    rule: u32,
    channel: u32,
    object: u32,
    contextType,
    type,
    context,
    bucket: fc.option(fc.record({ refillUs: rate, rate })),
  }),
)
const stage = fc.record({
  key: text(128),
  identity,
  channels: fc.array(fc.record({ channel: u32, object: u32, scope, rate }), { maxLength: 5 }),
})
const list = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(one, { maxLength: 5 })
const request = u32

const fromStage: fc.Arbitrary<StageToLocal> = fc.oneof(
  fc.record({ kind: fc.constant('hello' as const), protocol: u32, identity }),
  fc.record({ kind: fc.constant('ack' as const), request }),
  fc.record({ kind: fc.constant('ack' as const), request, failed: text(512) }),
  fc.record({ kind: fc.constant('counts' as const), request, channels: list(counts) }),
  fc.constant({ kind: 'bye' as const }),
)
const toStage: fc.Arbitrary<LocalToStage> = fc.oneof(
  fc.record({ kind: fc.constant('housekeeping' as const), request, rule }),
  fc.record({ kind: fc.constant('ready' as const), request, lease }),
  fc.record({
    kind: fc.constant('enforce' as const),
    request,
    epoch: count,
    command: fc.record({ channel: u32, object: u32, rate, refillNs: count }, { requiredKeys: ['channel', 'object'] }),
  }),
  fc.record({ kind: fc.constant('collect' as const), request }),
  fc.constant({ kind: 'alive' as const }),
  fc.record({ kind: fc.constant('refused' as const), why: text(512) }),
)
const fromLocal: fc.Arbitrary<LocalToGlobal> = fc.oneof(
  fc.record({
    kind: fc.constant('hello' as const),
    local: text(128),
    hostname: text(64),
    epoch: count,
    stages: list(stage),
  }),
  fc.record({ kind: fc.constant('stage-joined' as const), stage }),
  fc.record({ kind: fc.constant('stage-left' as const), key: text(128), why: text(512) }),
  fc.record({
    kind: fc.constant('counts' as const),
    request,
    windowNs: count,
    stages: list(fc.record({ key: text(128), channels: list(counts) })),
    silent: list(text(128)),
  }),
  fc.record({
    kind: fc.constant('ack' as const),
    request,
    failed: list(fc.record({ key: text(128), scope, why: text(512) })),
  }),
  fc.record({ kind: fc.constant('stale' as const), request, epoch: count, controller: text(128) }),
)
const toLocal: fc.Arbitrary<GlobalToLocal> = fc.oneof(
  fc.record({
    kind: fc.constant('welcome' as const),
    epoch: count,
    controller: text(128),
    housekeeping: list(rule),
    lease,
  }),
  fc.record({ kind: fc.constant('collect' as const), request, epoch: count, controller: text(128) }),
  fc.record({
    kind: fc.constant('enforce' as const),
    request,
    epoch: count,
    controller: text(128),
    rates: list(fc.record({ key: text(128), scope, rate })),
  }),
)

/** Cuts bytes at positions drawn from a list of numbers. */
function chunks(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [...new Set([0, ...cuts.map((c) => c % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  return at.slice(1).map((end, i) => bytes.slice(at[i], end))
}

function joined(all: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(all.reduce((n, b) => n + b.length, 0))
  let at = 0
  for (const b of all) {
    out.set(b, at)
    at += b.length
  }
  return out
}

function roundTrips<M>(dialect: Dialect<M>, message: fc.Arbitrary<M>): void {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), fc.array(fc.nat()), (messages, cuts) => {
      const decoder = new FrameDecoder(dialect)
      const heard: M[] = []
      for (const chunk of chunks(joined(messages.map((m) => dialect.encode(m))), cuts)) {
        const read = decoder.push(chunk)
        expect(read).toMatchObject({ ok: true })
        if (read.ok) heard.push(...read.value)
      }
      expect(heard).toEqual(messages)
      expect(decoder.pending).toBe(0)
    }),
  )
}

const dialects: [string, Dialect<never>, fc.Arbitrary<never>][] = [
  ['stage to local', stageToLocal, fromStage],
  ['local to stage', localToStage, toStage],
  ['local to global', localToGlobal, fromLocal],
  ['global to local', globalToLocal, toLocal],
] as unknown as [string, Dialect<never>, fc.Arbitrary<never>][]

describe.each(dialects)('%s', (_name, dialect, message) => {
  it('whatever is said is heard, however it is cut', () => roundTrips(dialect, message))

  it('any bytes are read or refused with a code, and nothing is kept beyond a frame', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }), (noise) => {
        const decoder = new FrameDecoder(dialect)
        let refused: string | undefined
        for (const chunk of noise) {
          const read = decoder.push(chunk)
          if (refused !== undefined) expect(read).toMatchObject({ ok: false, error: { code: refused } })
          if (!read.ok) refused = read.error.code
        }
        if (refused !== undefined) expect(refused).toMatch(/^W_[A-Z]+$/)
        expect(decoder.pending).toBeLessThanOrEqual(dialect.maxBytes + 4)
      }),
    )
  })

  it('one changed byte never throws, and never brings more than there were', () => {
    fc.assert(
      fc.property(message, fc.nat(), fc.integer({ min: 1, max: 255 }), (one, place, by) => {
        const bytes = dialect.encode(one)
        const at = place % bytes.length
        bytes[at] = ((bytes[at] as number) + by) & 255
        const read = new FrameDecoder(dialect).push(bytes)
        if (read.ok) expect(read.value.length).toBeLessThanOrEqual(1)
        else expect(read.error.code).toMatch(/^W_[A-Z]+$/)
      }),
    )
  })

  it('a message that ends too early waits; one that ends too late is refused', () => {
    fc.assert(
      fc.property(message, (one) => {
        const bytes = dialect.encode(one)
        expect(new FrameDecoder(dialect).push(bytes.subarray(0, bytes.length - 1))).toEqual({ ok: true, value: [] })
        const longer = joined([bytes, new Uint8Array(1)])
        new DataView(longer.buffer).setUint32(0, longer.length - 4, true)
        expect(new FrameDecoder(dialect).push(longer)).toMatchObject({ ok: false })
      }),
    )
  })
})

/** Builds a frame manually. */
function raw(version: number, kind: number, body: readonly number[], length = 8 + body.length): Uint8Array {
  const bytes = new Uint8Array(HEAD_BYTES + body.length)
  new DataView(bytes.buffer).setUint32(0, length, true)
  bytes.set([version, kind], 4)
  bytes.set(body, HEAD_BYTES)
  return bytes
}
const codeOf = (bytes: Uint8Array): string | undefined => {
  const read = new FrameDecoder(stageToLocal).push(bytes)
  return read.ok ? undefined : read.error.code
}

describe('what is refused, and how', () => {
  it('says what was wrong', () => {
    expect(codeOf(raw(2, 4, []))).toBe('W_VERSION')
    expect(codeOf(raw(1, 99, []))).toBe('W_TYPE')
    expect(codeOf(raw(1, 16, []))).toBe('W_TYPE') // of the other direction
    expect(codeOf(raw(1, 4, [0]))).toBe('W_TRAILING')
    expect(codeOf(raw(1, 2, []))).toBe('W_SHORT')
    expect(codeOf(raw(1, 2, [2, 0, 0]))).toBe('W_NUMBER') // a flag
    expect(codeOf(raw(1, 2, [1, 255, 255]))).toBe('W_TEXT')
    expect(codeOf(raw(1, 3, [255, 255, 255, 255]))).toBe('W_COUNT')
  })

  it('refuses a length before its bytes come, so that a peer cannot fill memory', () => {
    expect(codeOf(raw(1, 4, [], 0xffffffff).subarray(0, 4))).toBe('W_LENGTH')
    expect(codeOf(raw(1, 4, [], 3).subarray(0, 4))).toBe('W_LENGTH')
  })

  it.each([NaN, Infinity, -Infinity, -1])('a rate of %d does not arrive', (bad) => {
    const command = { channel: 1, object: 1, rate: bad }
    const bytes = localToStage.encode({ kind: 'enforce', request: 1, epoch: 1, command })
    expect(new FrameDecoder(localToStage).push(bytes)).toMatchObject({ ok: false, error: { code: 'W_NUMBER' } })
  })

  it('cuts a text that is too long where a character ends', () => {
    const heard = new FrameDecoder(localToStage).push(localToStage.encode({ kind: 'refused', why: 'ü'.repeat(400) }))
    expect(heard).toEqual({ ok: true, value: [{ kind: 'refused', why: 'ü'.repeat(256) }] })
  })

  it('keeps job ids apart whose bytes are no UTF-8', () => {
    const read = (bytes: readonly number[]): string =>
      new ByteReader(Uint8Array.from([bytes.length, 0, ...bytes])).text(200)
    const all = [[0xff], [0xfe], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]
    expect(new Set(all.map(read)).size).toBe(all.length)
    for (const bytes of all) {
      const to = new ByteWriter()
      to.text(read(bytes), 200)
      expect([...to.bytes.subarray(2)]).toEqual(bytes)
    }
    expect(read([0xf0, 0x9f, 0x98, 0x80])).toBe('😀')
  })
})

/** Arbitrary messages of the ccPFS protocol. */
import fc from 'fast-check'
import type { Block } from '#core/seqdlm/messages.ts'
import { LOCK_MODES } from '#core/seqdlm/modes.ts'
import { EOF, type LockRange } from '#core/seqdlm/ranges.ts'
import type { WireMessage } from '#electron/ccpfs/wire/messages.ts'

const small = fc.nat({ max: 1 << 20 })
const mode = fc.constantFrom(...LOCK_MODES)
const state = fc.constantFrom('GRANTED' as const, 'CANCELING' as const)
const bytes = fc.uint8Array({ maxLength: 20_000 }).map((b) => Buffer.from(b))

const range: fc.Arbitrary<LockRange> = fc
  .tuple(fc.uniqueArray(small, { minLength: 2, maxLength: 8 }), fc.boolean(), fc.boolean())
  .map(([offsets, isWhole, isOpen]) => {
    const sorted = offsets.sort((a, b) => a - b)
    const pieces = []
    for (let i = 0; i + 1 < sorted.length; i += 2) pieces.push({ start: sorted[i] ?? 0, end: sorted[i + 1] ?? 0 })
    const start = pieces[0]?.start ?? 0
    const end = pieces.at(-1)?.end ?? 0
    return isWhole ? { start, end: isOpen ? EOF : end, pieces: null } : { start, end, pieces }
  })

const anyBlock = (id: fc.Arbitrary<number>): fc.Arbitrary<Block> =>
  fc
    .tuple(small, fc.uint8Array({ minLength: 1, maxLength: 9000 }), id, fc.constantFrom('data', 'hole', 'rest'))
    .map(([start, data, sn, kind]) => ({
      start,
      end: kind === 'rest' ? EOF : start + data.length,
      sn,
      data: kind === 'data' ? Buffer.from(data) : null,
      hole: kind !== 'data',
    }))

/** Any message whose ids and numbers are of `id`. */
export function anyMessage(id: fc.Arbitrary<number>): fc.Arbitrary<WireMessage> {
  const block = anyBlock(id)
  const lock = fc.record({ resource: id, lockId: id, range, mode, state, sn: id, minSn: id })
  return fc.oneof(
    fc.record({
      kind: fc.constant('hello' as const),
      role: fc.constantFrom('client' as const, 'observer' as const),
      client: id,
      fileSystem: id,
      server: fc.nat({ max: 65_535 }),
      servers: fc.nat({ max: 65_535 }),
      isReturning: fc.boolean(),
      name: fc.string({ unit: 'grapheme', maxLength: 60 }),
    }),
    fc.record({
      kind: fc.constant('welcome' as const),
      client: id,
      fileSystem: id,
      epoch: id,
      policy: fc.string({ maxLength: 20 }),
      servers: fc.array(fc.string({ maxLength: 40 }), { maxLength: 5 }),
    }),
    fc.record({ kind: fc.constant('lock-request' as const), resource: id, reqId: id, range, mode }),
    fc.record({
      kind: fc.constantFrom('revoke-reply' as const, 'release' as const, 'revoke' as const),
      resource: id,
      lockId: id,
    }),
    fc.record({ kind: fc.constant('downgrade' as const), resource: id, lockId: id, mode }),
    fc.record({ kind: fc.constant('recover-report' as const), locks: fc.array(lock, { maxLength: 5 }) }),
    fc.record({
      kind: fc.constant('lock-grant' as const),
      resource: id,
      reqId: id,
      lockId: id,
      range,
      mode,
      state,
      sn: id,
      absorbed: fc.array(id, { maxLength: 5 }),
    }),
    fc.record({
      kind: fc.constant('lock-refusal' as const),
      resource: id,
      reqId: id,
      code: fc.constantFrom('E_RANGE' as const, 'E_MODE' as const, 'E_SN_EXHAUSTED' as const),
    }),
    fc.record({ kind: fc.constantFrom('recover-query' as const, 'recover-open' as const) }),
    fc.record({
      kind: fc.constant('flush-request' as const),
      resource: id,
      rpcSeq: id,
      answeredBelow: id,
      blocks: fc.array(block, { maxLength: 5 }),
    }),
    fc.record({ kind: fc.constant('sync-request' as const), reqId: id, resources: fc.array(id, { maxLength: 5 }) }),
    fc.record({ kind: fc.constant('size-request' as const), resource: id, reqId: id }),
    fc.tuple(id, id, small).map(([resource, reqId, start]) => ({
      kind: 'read-request' as const,
      resource,
      reqId,
      start,
      end: start + 1000,
    })),
    fc.record({ kind: fc.constant('flush-reply' as const), resource: id, rpcSeq: id }),
    fc.record({ kind: fc.constant('storage-fault' as const), resource: id, errno: fc.nat({ max: 255 }) }),
    fc.record({ kind: fc.constant('size-reply' as const), reqId: id, size: id }),
    fc.record({
      kind: fc.constant('call' as const),
      reqId: id,
      answeredBelow: id,
      op: fc.nat({ max: 255 }),
      body: bytes,
    }),
    fc.record({
      kind: fc.constant('result' as const),
      reqId: id,
      result: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      body: bytes,
    }),
    fc.tuple(small, id, bytes).map(([start, reqId, data]) => ({
      kind: 'read-reply' as const,
      reqId,
      start,
      end: start + data.length,
      data,
    })),
  )
}

import { describe, expect, it } from 'vitest'
import { CLIENT_LIMITS } from './ccpfs-client.ts'
import type { Written } from './operation.ts'
import { ENTRY_BYTES } from './extent-cache.ts'
import type { FileLayout } from './layout.ts'
import type { FlushRequest, Message } from './messages.ts'
import { DLM_DATATYPE, SEQDLM } from './policy.ts'
import { SmallCluster, type SmallClusterOptions } from '#tests/kits/core/seqdlm/small-cluster.ts'

const KIB = 1024
const MIB = 1024 * KIB
const file = (stripes: number, stripeSize = MIB): FileLayout => ({ base: 0, stripes, stripeSize })
const cluster = (options: Partial<SmallClusterOptions> = {}): SmallCluster =>
  new SmallCluster({ policy: SEQDLM, clients: 2, servers: 1, ...options })
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (data: Uint8Array | null): string => new TextDecoder().decode(data ?? undefined).replaceAll('\0', '.')

describe('operations', () => {
  it('appends at the end that others left, over stripes', () => {
    const c = cluster({ servers: 2 })
    const layout = file(3, 4)
    const offsets = ['first, ', 'second, ', 'third'].map((word, i) => {
      const written = c.one<Written>((done) => c.clients[i % 2]!.append(layout, bytes(word), done))
      return written.offset
    })
    expect(offsets).toEqual([0, 7, 15])
    expect(c.one<number>((done) => c.clients[1]!.size(layout, done))).toBe(20)
    expect(text(c.one((done) => c.clients[1]!.read(layout, 0, 20, {}, done)))).toBe('first, second, third')
  })

  it('appends of one node, which share its lock, do not overwrite each other', () => {
    const c = cluster({ servers: 2 })
    const layout = file(3, 4)
    const offsets: number[] = []
    for (const word of ['first, ', 'second, ', 'third']) {
      c.clients[0]!.append(layout, bytes(word), (done) => offsets.push(done.ok ? done.value.offset : NaN))
    }
    c.one<void>((done) => c.clients[0]!.extend(layout, 22, done))
    expect(offsets).toEqual([0, 7, 15])
    expect(text(c.one((done) => c.clients[1]!.read(layout, 0, 22, {}, done)))).toBe('first, second, third..')
  })

  it('truncates what is cached here, there and on the servers, and reads zeros behind the end', () => {
    const c = cluster({ servers: 2 })
    const layout = file(2, 4)
    c.one<Written>((done) => c.clients[0]!.write(layout, 0, bytes('0123456789abcdef'), {}, done))
    c.one<Written>((done) => c.clients[1]!.truncate(layout, 6, done))
    expect(c.one<number>((done) => c.clients[1]!.size(layout, done))).toBe(6)
    c.one<Written>((done) => c.clients[0]!.write(layout, 10, bytes('XY'), {}, done))
    expect(c.one<number>((done) => c.clients[0]!.size(layout, done))).toBe(12)
    expect(text(c.one((done) => c.clients[1]!.read(layout, 0, 14, {}, done)))).toBe('012345....XY..')
  })

  it('extends a file to a size, and leaves a longer one unchanged', () => {
    const c = cluster({ servers: 2 })
    const layout = file(2, 4)
    c.one<Written>((done) => c.clients[0]!.write(layout, 0, bytes('0123'), {}, done))
    c.one<void>((done) => c.clients[1]!.extend(layout, 15, done))
    expect(c.one<number>((done) => c.clients[0]!.size(layout, done))).toBe(15)
    expect(text(c.one((done) => c.clients[0]!.read(layout, 0, 15, {}, done)))).toBe('0123...........')
    c.one<Written>((done) => c.clients[0]!.write(layout, 14, bytes('XY'), {}, done))
    c.one<void>((done) => c.clients[1]!.extend(layout, 15, done))
    expect(text(c.one((done) => c.clients[1]!.read(layout, 12, 4, {}, done)))).toBe('..XY')
    expect(c.one<number>((done) => c.clients[1]!.size(layout, done))).toBe(16)
  })

  it('reads its own writes without asking anybody once it holds a PW', () => {
    const c = cluster()
    const layout = file(1)
    for (let i = 0; i < 50; i++) {
      c.one<Written>((done) => c.clients[0]!.write(layout, i * 100, bytes(`${i}`), {}, done))
      expect(text(c.one((done) => c.clients[0]!.read(layout, i * 100, 2, {}, done)))).toMatch(`${i}`)
    }
    // NBW, then its upgrade to PW (Fig. 11); everything else is served from the lock cache.
    expect(c.count('lock-request')).toBe(2)
    expect(c.count('revoke')).toBe(0)
  })

  it('asks for one lock a stripe for apart extents, and under DLM-datatype for the extents themselves', () => {
    const extents = [0, 1, 2, 3].map((i) => ({ start: i * 8192, end: i * 8192 + 4096 }))
    const between = [0, 1, 2].map((i) => ({ start: i * 8192 + 4096, end: i * 8192 + 8192 }))
    const revocations = (policy = SEQDLM): number => {
      const c = cluster({ policy, content: false })
      c.one<Written>((done) => c.clients[0]!.writeAtomic(file(1), extents, 16_384, {}, done))
      c.one<Written>((done) => c.clients[1]!.writeAtomic(file(1), between, 12_288, {}, done))
      return c.count('revoke')
    }
    expect(revocations()).toBe(1)
    expect(revocations(DLM_DATATYPE)).toBe(0)
  })

  it.each<[string, number, number | Uint8Array, string]>([
    ['beyond 2^53', 2 ** 53 - 2, new Uint8Array(4), 'E_EXTENT'],
    ['of nothing', 0, new Uint8Array(0), 'E_EXTENT'],
    ['before the start', -1, new Uint8Array(1), 'E_EXTENT'],
    ['at half a byte', 0.5, new Uint8Array(1), 'E_EXTENT'],
    ['without bytes where bytes are carried', 0, 4096, 'E_CONTENT'],
  ])('refuses a write %s', (_, offset, data, code) => {
    const c = cluster()
    c.clients[0]!.write(file(1), offset, data, {}, (r) => expect(r).toMatchObject({ ok: false, error: { code } }))
    c.settle()
    expect(c.count('lock-request')).toBe(0)
    expect.assertions(2)
  })

  it('refuses extents that overlap or go back', () => {
    const c = cluster()
    for (const second of [
      { start: 2, end: 4 },
      { start: 0, end: 1 },
    ]) {
      const extents = [{ start: 1, end: 3 }, second]
      const data = new Uint8Array(2 + second.end - second.start)
      c.clients[0]!.writeAtomic(file(1), extents, data, {}, (r) => expect(r.ok).toBe(false))
    }
    expect.assertions(2)
  })
})

describe('the flush daemon', () => {
  const flushes = (c: SmallCluster): { held: FlushRequest[]; hold: (m: Message) => boolean } => {
    const held: FlushRequest[] = []
    return {
      held,
      hold: (m) => {
        if (m.kind === 'flush-request' && !held.includes(m)) held.push(m)
        return m.kind === 'flush-request' && c.servers.length > 0
      },
    }
  }

  it('begins at 256 MB of dirty data, sends 512 KB a flush and 8 at a time, and stops below', () => {
    const c = cluster({ content: false })
    const write = (i: number): void => c.clients[0]!.write(file(1), i * MIB, MIB, {}, () => {})
    const { held, hold } = flushes(c)
    for (let i = 0; i < 255; i++) write(i)
    while (c.step(hold));
    expect(held).toHaveLength(0)
    for (let i = 255; i < 260; i++) write(i)
    while (c.step(hold));
    expect(held).toHaveLength(8)
    expect(held.map((f) => f.blocks[0]!.start)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((i) => i * 512 * KIB))
    expect(held.every((f) => f.blocks.length === 1 && f.blocks[0]!.end - f.blocks[0]!.start === 512 * KIB)).toBe(true)
    c.settle()
    expect(c.clients[0]!.dirtyBytes).toBeLessThan(CLIENT_LIMITS.minDirtyBytes)
    expect(c.clients[0]!.dirtyBytes).toBeGreaterThanOrEqual(CLIENT_LIMITS.minDirtyBytes - 512 * KIB)
  })

  it('lets writers wait at 4 GB of dirty data until some of it is flushed', () => {
    const c = cluster({ content: false })
    const { hold } = flushes(c)
    let written = 0
    for (let i = 0; i < 4200; i++) {
      c.clients[0]!.write(file(1), i * MIB, MIB, {}, () => written++)
      while (c.step(hold));
    }
    expect(written).toBe(4096)
    expect(c.clients[0]!.blockedWriters).toBe(104)
    expect(c.clients[0]!.dirtyBytes).toBe(CLIENT_LIMITS.maxDirtyBytes)
    c.settle()
    expect(written).toBe(4200)
  })

  it('has no byte under flush twice with one SN', () => {
    const c = cluster({ limits: { minDirtyBytes: 0, maxInFlight: 4 } })
    const { held, hold } = flushes(c)
    for (const word of ['old', 'mid', 'new']) {
      c.clients[0]!.write(file(1), 0, bytes(word), {}, () => {})
      while (c.step(hold));
    }
    expect(held).toHaveLength(1)
    c.settle()
    expect(text(c.one((done) => c.clients[1]!.read(file(1), 0, 3, {}, done)))).toBe('new')
    expect(c.count('flush-request')).toBe(2)
  })

  it('sends blocks of many locks in one flush, each with its SN, those that touch made one', () => {
    const c = cluster({ content: false })
    c.one<Written>((done) => c.clients[0]!.write(file(1), 0, 4096, {}, done))
    c.one<Written>((done) => c.clients[0]!.write(file(1), 4096, 4096, {}, done))
    c.one((done) => c.clients[0]!.read(file(1), 8192, 4096, {}, done))
    c.one<Written>((done) => c.clients[0]!.write(file(1), 8192, 100, {}, done))
    const { held, hold } = flushes(c)
    c.clients[0]!.fsync(file(1), () => {})
    while (c.step(hold));
    expect(held.map((f) => f.blocks.map(({ start, end, sn }) => [start, end, sn]))).toEqual([
      [
        [0, 8192, 1],
        [8192, 8292, 2],
      ],
    ])
  })
})

describe('the extent cache of a server', () => {
  const holes = (n: number): { start: number; end: number }[] =>
    Array.from({ length: n }, (_, i) => ({ start: i * 10, end: i * 10 + 5 }))
  const write = (c: SmallCluster, client: number, n: number): Written =>
    c.one<Written>((done) => c.clients[client]!.writeAtomic(file(1), holes(n), n * 5, {}, done))

  it('is cleaned of what no unreleased lock can still write under', () => {
    const c = cluster({ content: false, threshold: 100 })
    write(c, 0, 3000)
    c.one<void>((done) => c.clients[0]!.fsync(file(1), done))
    // The lock with this SN is still held; entries that are not newer may be removed.
    expect(c.servers[0]!.data.cache.entries).toBe(0)
    expect(c.servers[0]!.data.cache.bytes).toBe(0 * ENTRY_BYTES)
    expect(c.count('revoke')).toBe(0)
  })

  it('has every client flush when cleaning is not enough, and then forgets the stripe and its log', () => {
    const c = cluster({ content: false, threshold: 100, clients: 3 })
    const isHeld = (m: Message): boolean => m.kind === 'flush-request' && m.blocks.some((b) => b.sn === 1)
    // The lock with SN 1 is CANCELING and its flush under way when SN 2 arrives.
    c.clients[0]!.write(file(1), 0, 50_000, {}, () => {})
    c.clients[1]!.writeAtomic(file(1), holes(3000), 15_000, {}, () => {})
    c.clients[2]!.write(file(1), 0, 10, {}, () => {})
    while (c.step(isHeld));
    expect(c.servers[0]!.data.cache.entries).toBeGreaterThan(2900)
    expect([...c.servers[0]!.data.syncing]).toEqual([0])
    c.settle()
    expect([...c.servers[0]!.data.syncing]).toEqual([])
    expect(c.servers[0]!.data.cache.entries).toBeLessThan(100)
    expect(c.clients.map((client) => client.dirtyBytes)).toEqual([0, 0, 0])
    expect(c.failures).toEqual([])
  })
})

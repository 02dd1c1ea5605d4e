import { describe, expect, it } from 'vitest'
import type { FileLayout } from './layout.ts'
import type { Written } from './operation.ts'
import { DLM_BASIC, SEQDLM } from './policy.ts'
import { SmallCluster, type SmallClusterOptions } from '#tests/kits/core/seqdlm/small-cluster.ts'
import type { ClientLock } from './lock-client.ts'

const file = (base: number, stripes = 1): FileLayout => ({ base, stripes, stripeSize: 4096 })
const cluster = (maxIdleLocks: number, options: Partial<SmallClusterOptions> = {}): SmallCluster =>
  new SmallCluster({ policy: SEQDLM, clients: 2, servers: 1, limits: { maxIdleLocks }, ...options })
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const write = (c: SmallCluster, base: number, data = 'data', client = 0): Written =>
  c.one<Written>((done) => c.clients[client]!.write(file(base), 0, bytes(data), {}, done))
const read = (c: SmallCluster, base: number, client = 0): string => {
  const bytes = c.one<Uint8Array | null>((done) => c.clients[client]!.read(file(base), 0, 4, {}, done))
  return new TextDecoder().decode(bytes ?? undefined)
}

const locksOf = (c: SmallCluster, client = 0): ClientLock[] => {
  const { locks } = c.clients[client]!
  return [...locks.resources()].flatMap((resource) => [...locks.locks(resource)])
}
const files = (c: SmallCluster): number[] => locksOf(c).map(({ resource }) => resource)

describe('the limit of the lock cache', () => {
  it('gives the lock back that was used the longest ago, with its data on the server', () => {
    const c = cluster(2)
    write(c, 0)
    write(c, 1)
    write(c, 0)
    write(c, 2)
    expect(files(c)).toEqual([0, 2])
    expect(c.count('revoke')).toBe(0)
    expect(c.servers[0]!.locks.resource(1).unreleased).toBe(0)
    expect(c.clients[0]!.pages.hasData(1, 1)).toBe(false)
    // Data already on the server needs no revocation.
    expect(read(c, 1, 1)).toBe('data')
    expect(c.count('revoke')).toBe(0)
    expect(c.failures).toEqual([])
  })

  it.each([SEQDLM, DLM_BASIC])('holds for a client that goes through 10,000 files ($name)', (policy) => {
    const c = cluster(100, { policy })
    for (let base = 0; base < 10_000; base++) write(c, base)
    expect(files(c)).toEqual(Array.from({ length: 100 }, (_, i) => 9900 + i))
    const unreleased = [...c.servers[0]!.locks.resources()].reduce((sum, r) => sum + r.unreleased, 0)
    expect(unreleased).toBe(100)
    expect(c.failures).toEqual([])
  })

  it('never takes a lock from an operation that holds it', () => {
    const c = cluster(0, { servers: 2 })
    const wide = file(0, 8)
    const data = bytes('x'.repeat(8 * 4096))
    let held = 0
    let hasReturned = false
    c.clients[0]!.write(wide, 0, data, {}, (result) => (hasReturned = result.ok))
    // Seven are held while the eighth is requested, although none may be kept.
    while (c.step()) held = Math.max(held, locksOf(c).filter((l) => l.state === 'GRANTED' && l.writers === 1).length)
    expect(hasReturned).toBe(true)
    expect(held).toBe(7)
    expect(locksOf(c)).toEqual([])
    const read = c.one<Uint8Array | null>((done) => c.clients[1]!.read(wide, 0, data.length, {}, done))
    expect(read).toEqual(data)
  })

  it('is settled when a revocation crosses the release of the same lock', () => {
    const c = cluster(1)
    write(c, 0, 'mine')
    let value = ''
    // The revocation for client 1 is under way when client 0 releases the lock to stay within its limit.
    c.clients[1]!.read(file(0), 0, 4, {}, (r) => (value = new TextDecoder().decode((r as { value: Uint8Array }).value)))
    c.step()
    c.clients[0]!.write(file(1), 0, bytes('more'), {}, () => {})
    while (c.step((m) => m.kind === 'revoke'));
    expect(value).toBe('mine')
    c.settle()
    expect(c.failures).toEqual([])
    expect(files(c)).toEqual([1])
  })

  it('is settled when the node asks for bytes of a lock that it is giving back', () => {
    const c = cluster(0)
    let value = ''
    c.clients[0]!.write(file(0), 0, bytes('mine'), {}, () => {
      c.clients[0]!.read(
        file(0),
        0,
        4,
        {},
        (r) => (value = new TextDecoder().decode((r as { value: Uint8Array }).value)),
      )
    })
    c.settle()
    expect(value).toBe('mine')
    expect(c.failures).toEqual([])
    expect(locksOf(c)).toEqual([])
  })

  it('is settled when the answer to a request under way absorbs the lock', () => {
    const c = cluster(0, { servers: 2 })
    const data = bytes('x'.repeat(2 * 4096))
    let hasWritten = false
    let hasRead = false
    c.clients[0]!.write(file(0, 2), 0, data, {}, (r) => (hasWritten = r.ok))
    while (files(c).length === 0) c.step()
    // A second thread requests a read under the first lock, which is upgraded for it, and the first thread finishes
    // meanwhile.
    c.clients[0]!.read(file(0), 0, 4, {}, (r) => (hasRead = r.ok))
    while (c.step((m) => m.kind === 'lock-request' && m.resource === 0));
    expect([hasWritten, hasRead]).toEqual([true, false])
    expect(files(c)).toEqual([0])
    c.settle()
    expect(hasRead).toBe(true)
    expect(c.failures).toEqual([])
    expect(locksOf(c)).toEqual([])
  })
})

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { randomStream } from '../base/random.ts'
import type { Data, Written } from './operation.ts'
import type { FileLayout } from './layout.ts'
import { DLM_BASIC, DLM_DATATYPE, DLM_LUSTRE, SEQDLM } from './policy.ts'
import { SmallCluster } from '#tests/kits/core/seqdlm/small-cluster.ts'

/** The paper's data-safety experiments (SeqDLM V-B1) with real bytes, messages in random order, ten times each. */
const CLIENTS = 16
const ROUNDS = Array.from({ length: 10 }, (_, seed) => seed)
const checksum = (data: Uint8Array | null): string =>
  createHash('sha256')
    .update(data as Uint8Array)
    .digest('hex')

/**
 * Bytes that differ by seed and name; xorshift32, because drawing each word from a named stream would take longer than
 * the test.
 */
function randomBytes(length: number, seed: number, name: string): Uint8Array {
  let x = randomStream(seed, name).below(2 ** 32) | 1
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let i = 0; i < words.length; i++) {
    x ^= x << 13
    x ^= x >>> 17
    words[i] = x ^= x << 5
  }
  return new Uint8Array(words.buffer).subarray(0, length)
}

const file = (stripes: number, stripeSize: number): FileLayout => ({ base: 0, stripes, stripeSize })

describe.each([SEQDLM, DLM_BASIC, DLM_LUSTRE, DLM_DATATYPE])('$name', (policy) => {
  it.each([1, 2, 4])(
    'IO500 IOR hard: apart writes of 47,008 bytes, strided, on %i stripes, read back elsewhere',
    (stripes) => {
      for (const seed of policy === SEQDLM ? ROUNDS : ROUNDS.slice(0, 3)) {
        const layout = file(stripes, 1 << 20)
        const cluster = new SmallCluster({
          policy,
          clients: CLIENTS,
          servers: Math.min(stripes, 2),
          random: randomStream(seed, 'net'),
        })
        const size = 47_008
        const blocks = Array.from({ length: CLIENTS * 4 }, (_, i) => randomBytes(size, seed, `block ${i}`))
        for (let k = 0; k < 4; k++) {
          cluster.all<Written>(
            cluster.clients.map((client, rank) => (done) => {
              const i = k * CLIENTS + rank
              client.write(layout, i * size, blocks[i] as Data, {}, done)
            }),
          )
        }
        const read = cluster.all<Uint8Array | null>(
          blocks.map((_, i) => (done) => cluster.clients[(i + 5) % CLIENTS]!.read(layout, i * size, size, {}, done)),
        )
        expect(read.map(checksum)).toEqual(blocks.map(checksum))
        expect(cluster.failures).toEqual([])
      }
    },
  )

  it.each([1, 2])(
    'Fig. 7: every client writes all of it twice, on %i stripes, and all read the second write of one',
    (stripes) => {
      for (const seed of policy === SEQDLM ? ROUNDS : ROUNDS.slice(0, 3)) {
        const length = 1 << 16
        const layout = file(stripes, length / stripes)
        const cluster = new SmallCluster({
          policy,
          clients: CLIENTS,
          servers: stripes,
          random: randomStream(seed, 'net'),
        })
        const [first, second] = [1, 2].map((n) =>
          cluster.clients.map((_, c) => randomBytes(length, seed, `write ${n} of ${c}`)),
        )
        cluster.all<Written>(
          cluster.clients.map((client, c) => (done) => {
            client.write(layout, 0, first![c] as Data, {}, () => client.write(layout, 0, second![c] as Data, {}, done))
          }),
        )
        const read = cluster.all<Uint8Array | null>(
          cluster.clients.map((client) => (done) => client.read(layout, 0, length, {}, done)),
        )
        const sums = new Set(read.map(checksum))
        expect(sums.size).toBe(1)
        expect(second!.map(checksum)).toContain([...sums][0])
      }
    },
  )
})

/** Processes that write to one file: the loops of the paper's benchmarks, and their timings. */
import { invariant } from '../../base/result.ts'
import type { FileLayout } from '../../seqdlm/layout.ts'
import type { OperationOptions } from '../../seqdlm/operation.ts'
import { US, type Cluster } from '../../seqdlm/model/cluster.ts'

export interface WriteRun {
  /** Writes of all processes together. */
  readonly writes: number
  readonly bytes: number
  /** Time until the last write returned, s. */
  readonly pioS: number
  /** Time until everything was on the servers, s. */
  readonly totalS: number
  /** Part of client 0's PIO time spent waiting for locks. */
  readonly lockingShare: number
}

/** Offset of one write of `bytes` bytes. */
export type OffsetOf = (writer: number, write: number) => number

export interface Writers {
  readonly file: FileLayout
  /** Alternative: one file per writer. */
  readonly fileOf?: (writer: number) => FileLayout
  /** Writes of each writer. */
  readonly writes: number
  readonly bytes: number
  readonly offsetOf: OffsetOf
  readonly options?: OperationOptions
}

/** Every client writes independently at full speed; then everything is flushed. */
export function independent(cluster: Cluster, writers: Writers): WriteRun {
  const { clients } = cluster
  const { file: shared, writes, bytes, offsetOf, options = {} } = writers
  const fileOf = writers.fileOf ?? (() => shared)
  return timed(cluster, fileOf, clients.length * writes, clients.length * writes * bytes, (writer, ended) => {
    const client = clients[writer]!
    const file = fileOf(writer)
    let write = 0
    const next = (): void => {
      if (write === writes) ended()
      else client.write(file, offsetOf(writer, write++), bytes, options, next)
    }
    next()
  })
}

/** Clients write round robin; a message passes the turn on. */
export function roundRobin(cluster: Cluster, { file, writes, bytes, offsetOf, options = {} }: Writers): WriteRun {
  const { clients, costs } = cluster
  const all = clients.length * writes
  let next = 0
  const take = (): void => {
    const writer = next % clients.length
    const write = Math.floor(next / clients.length)
    next++
    clients[writer]!.write(file, offsetOf(writer, write), bytes, options, () => {
      if (next < all) cluster.wait(costs.mpiUs, take)
    })
  }
  cluster.sim.at(0, take)
  cluster.sim.runUntil(Infinity)
  const pioS = cluster.sim.now / 1e9
  return { writes: all, bytes: all * bytes, pioS, totalS: pioS, lockingShare: cluster.lockingNs[0]! / 1e9 / pioS }
}

/** Runs a process on every client, then flushes the file from every client, and times both. */
export function timed(
  cluster: Cluster,
  files: FileLayout | ((writer: number) => FileLayout),
  writes: number,
  bytes: number,
  run: (writer: number, ended: () => void) => void,
): WriteRun {
  const { sim, clients } = cluster
  let unfinished = clients.length
  let first = Infinity
  let pioAt = 0
  let totalAt = 0
  let unflushed = clients.length
  const ended = (): void => {
    if (--unfinished > 0) return
    pioAt = sim.now
    for (const [writer, client] of clients.entries()) {
      client.fsync(typeof files === 'function' ? files(writer) : files, () => {
        if (--unflushed === 0) totalAt = sim.now
      })
    }
  }
  let locking = 0
  for (const writer of clients.keys()) {
    const at = cluster.skew()
    first = Math.min(first, at)
    sim.at(at, () =>
      run(writer, () => {
        if (writer === 0) locking = cluster.lockingNs[0]! / (sim.now - at)
        ended()
      }),
    )
  }
  sim.runUntil(Infinity)
  invariant(unflushed === 0, 'every write of a benchmark returns and is flushed')
  const seconds = (at: number): number => (at - first) / (1e6 * US)
  return { writes, bytes, pioS: seconds(pioAt), totalS: seconds(totalAt), lockingShare: locking }
}

/** Bandwidth seen by an application, GB/s (10^9). */
export const bandwidth = ({ bytes, pioS }: WriteRun): number => bytes / pioS / 1e9

export const throughput = ({ writes, pioS }: WriteRun): number => writes / pioS

/** N-1 strided: writer after writer, row after row. */
export const strided =
  (writers: number, bytes: number): OffsetOf =>
  (writer, write) =>
    (write * writers + writer) * bytes

/** N-1 segmented: each writer has its own part of the file. */
export const segmented =
  (writes: number, bytes: number): OffsetOf =>
  (writer, write) =>
    (writer * writes + write) * bytes

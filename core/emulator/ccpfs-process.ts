/** Process of a job on ccPFS: issues one operation after another at its pace, on its client node. */
import type { RandomStream } from '../base/random.ts'
import type { Result } from '../base/result.ts'
import { NS_PER_MS, NS_PER_S, sToNs } from '../base/units.ts'
import type { CcpfsClient } from '../seqdlm/ccpfs-client.ts'
import type { ClientId } from '../seqdlm/messages.ts'
import type { Written } from '../seqdlm/operation.ts'
import type { TraceFeed } from '../seqdlm/trace/trace.ts'
import type { Simulation } from '../sim/simulation.ts'
import type { EmulatedFile } from './ccpfs-files.ts'
import type { FileUsage } from './ccpfs-usage.ts'
import {
  partOf,
  processesOf,
  writersOf,
  type CcpfsWorkload,
  type CcpfsFile,
  type CcpfsPattern,
} from './scenario-ccpfs.ts'

type Operation = 'write' | 'append' | 'read'

/** Offset of the n-th operation of a process in its file, bytes: always the same one, except in random patterns. */
type OffsetOf = (n: number) => number

/** Operation of a process: read, write at an offset, or append. */
function operationOf(pattern: CcpfsPattern, isReader: boolean): Operation {
  if (isReader || pattern === 'read') return 'read'
  return pattern === 'append' ? 'append' : 'write'
}

/** True if a rank is one of the readers of a workload; readers have the last ranks. */
const isReaderOf = (w: CcpfsWorkload, rank: number): boolean =>
  w.pattern === 'read' || rank >= processesOf(w) - w.readers

/**
 * Offsets of one process, wrapping at the end of its part of the file.
 *
 * A reader beside writers reads at random multiples of the I/O size; each reader of a `read` workload reads sequentially from a
 * different start. A spanning write covers a stripe boundary, half on each side.
 *
 * @param rank  number of the process in its workload, from 0.
 */
function offsetsOf(w: CcpfsWorkload, file: CcpfsFile, rank: number, random: RandomStream): OffsetOf {
  const { start, length } = partOf(w, file)
  const size = w.size_bytes
  const places = Math.max(1, Math.floor(length / size))
  const all = processesOf(w)
  const writers = writersOf(w)
  if (isReaderOf(w, rank)) {
    if (w.pattern !== 'read') return () => start + random.below(places) * size
    const first = Math.floor((rank * places) / all)
    return (n) => start + ((first + n) % places) * size
  }
  switch (w.pattern) {
    case 'random':
      return () => start + random.below(places) * size
    case 'segmented': {
      const segment = Math.floor(length / writers)
      const perSegment = Math.max(1, Math.floor(segment / size))
      return (n) => start + rank * segment + (n % perSegment) * size
    }
    case 'spanning': {
      const stripe = file.stripe_kib * 1024
      const first = Math.ceil((start + Math.floor(size / 2)) / stripe)
      const last = Math.floor((start + length - Math.ceil(size / 2)) / stripe)
      const edges = Math.max(1, last - first + 1)
      return (n) => (first + ((n * writers + rank) % edges)) * stripe - Math.floor(size / 2)
    }
    default:
      return (n) => start + ((n * writers + rank) % places) * size
  }
}

export interface ProcessPlace {
  readonly sim: Simulation
  readonly client: ClientId
  /** Current client of the node. */
  readonly node: () => CcpfsClient
  readonly file: EmulatedFile
  /** Counters to update: of its file, and of all files. */
  readonly uses: readonly FileUsage[]
  readonly random: RandomStream
  readonly wrote: TraceFeed['wrote'] | undefined
}

/** Start skew of processes and of their bursts. */
const SKEW_NS = 2 * NS_PER_MS
/** Delay before the next operation after a failed one, ns. */
const RETRY_NS = NS_PER_S

export class CcpfsProcess {
  readonly client: ClientId
  readonly #place: ProcessPlace
  readonly #workload: CcpfsWorkload
  readonly #operation: Operation
  readonly #offsetOf: OffsetOf
  #done = 0
  /** Operations left in this burst. */
  #remaining = 0
  #burst = 0
  /** Incremented at eviction; replies to operations of an earlier life are ignored. */
  #life = 0
  #isUnderWay = false
  /** True while the node is silent and the next operation is deferred. */
  #isParked = false
  #isSilent = false

  constructor(workload: CcpfsWorkload, rank: number, place: ProcessPlace) {
    this.client = place.client
    this.#place = place
    this.#workload = workload
    this.#operation = operationOf(workload.pattern, isReaderOf(workload, rank))
    this.#offsetOf = offsetsOf(workload, place.file.scenario, rank, place.random)
    const start = sToNs(workload.start_s) + this.#skewNs()
    place.sim.at(start, this.#pause)
  }

  /** Suspends the process while its node hangs, then resumes it. */
  silence(isSilent: boolean): void {
    this.#isSilent = isSilent
    if (isSilent || !this.#isParked) return
    this.#isParked = false
    this.#next()
  }

  /** Drops the operation under way when its node is evicted; the next one follows after a delay. */
  lose(): void {
    if (!this.#isUnderWay) return
    this.#life++
    this.#ended(0)
    this.#place.sim.after(RETRY_NS, this.#next)
  }

  #skewNs(): number {
    return Math.ceil(this.#place.random.uniform() * SKEW_NS)
  }

  get #isOver(): boolean {
    const { stop_s } = this.#workload
    return stop_s !== undefined && this.#place.sim.now >= sToNs(stop_s)
  }

  /** Pauses between operations and between bursts. */
  readonly #pause = (): void => {
    const { pace, start_s } = this.#workload
    const { sim, random } = this.#place
    if (this.#isOver) return
    if (pace.kind === 'continuous') {
      const ns = pace.think_ms === 0 ? 0 : random.exponential(pace.think_ms * NS_PER_MS)
      sim.after(ns, this.#next)
      return
    }
    if (this.#remaining > 0) {
      this.#next()
      return
    }
    // A late burst is followed by the next one at once.
    const due = sToNs(start_s + this.#burst * pace.every_s) + this.#skewNs()
    this.#burst++
    this.#remaining = pace.operations
    sim.at(Math.max(sim.now, due), this.#next)
  }

  readonly #next = (): void => {
    if (this.#isOver) return
    if (this.#isSilent) {
      this.#isParked = true
      return
    }
    const { node, file } = this.#place
    const { size_bytes } = this.#workload
    const life = this.#life
    this.#began()
    const n = this.#done++
    const back = (result: Result<Written | Uint8Array | null>): void => {
      if (life === this.#life) this.#returned(result)
    }
    if (this.#operation === 'append') node().append(file.layout, size_bytes, back)
    else if (this.#operation === 'write') node().write(file.layout, this.#offsetOf(n), size_bytes, {}, back)
    else node().read(file.layout, this.#offsetOf(n), size_bytes, {}, back)
  }

  get #isWrite(): boolean {
    return this.#operation !== 'read'
  }

  #returned(result: Result<Written | Uint8Array | null>): void {
    const { sim, wrote, node, file } = this.#place
    this.#ended(result.ok ? this.#workload.size_bytes : 0)
    if (!result.ok) {
      sim.after(RETRY_NS, this.#next)
      return
    }
    if (wrote && result.value !== null && 'parts' in result.value) {
      for (const { resource, sn, start, end } of result.value.parts) wrote(resource, sn, end - start)
    }
    const { pace } = this.#workload
    if (pace.kind === 'bursts' && --this.#remaining === 0 && pace.fsync && this.#isWrite) {
      const life = this.#life
      this.#began()
      node().fsync(file.layout, () => {
        if (life !== this.#life) return
        this.#ended(0)
        this.#pause()
      })
    } else this.#pause()
  }

  #began(): void {
    this.#isUnderWay = true
    for (const use of this.#place.uses) use.begin(this.#isWrite, this.#place.sim.now)
  }

  #ended(bytes: number): void {
    this.#isUnderWay = false
    for (const use of this.#place.uses) use.end(this.#isWrite, bytes, this.#place.sim.now)
  }
}

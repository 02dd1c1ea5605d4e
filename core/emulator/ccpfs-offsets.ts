/** Where in a file the operations of a process go. Pure: the n-th operation of a rank has one place, but for random ones. */
import type { RandomStream } from '../base/random.ts'
import {
  partOf,
  processesOf,
  writersOf,
  type CcpfsFile,
  type CcpfsPattern,
  type CcpfsWorkload,
} from './scenario-ccpfs.ts'

export type Operation = 'write' | 'append' | 'read'

/** Offset of the n-th operation, bytes. */
export type OffsetOf = (n: number) => number

/** Whether a process reads, writes at offsets, or at the end of the file. */
export function operationOf(pattern: CcpfsPattern, isReader: boolean): Operation {
  if (isReader || pattern === 'read') return 'read'
  return pattern === 'append' ? 'append' : 'write'
}

/** Whether a rank is one of the readers of a workload, which come last. */
export const isReaderOf = (w: CcpfsWorkload, rank: number): boolean =>
  w.pattern === 'read' || rank >= processesOf(w) - w.readers

/**
 * The offsets of one process. At the end of its part of the file it begins again from the start.
 *
 * A reader reads places of the writers' grid at random; those of a `read` workload each read the part from a place of their
 * own on. A spanning write lies half on each side of the end of a stripe.
 *
 * @param rank  number of the process in its workload, from 0.
 */
export function offsetsOf(w: CcpfsWorkload, file: CcpfsFile, rank: number, random: RandomStream): OffsetOf {
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
      const own = Math.max(1, Math.floor(segment / size))
      return (n) => start + rank * segment + (n % own) * size
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

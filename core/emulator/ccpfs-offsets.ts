/**
 * File offsets of the operations of a process. Pure: offset of the n-th operation of a rank, fixed except for random patterns.
 */
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

/** Operation of a process: read, write at an offset, or append. */
export function operationOf(pattern: CcpfsPattern, isReader: boolean): Operation {
  if (isReader || pattern === 'read') return 'read'
  return pattern === 'append' ? 'append' : 'write'
}

/** True if a rank is one of the readers of a workload; readers have the last ranks. */
export const isReaderOf = (w: CcpfsWorkload, rank: number): boolean =>
  w.pattern === 'read' || rank >= processesOf(w) - w.readers

/**
 * Offsets of one process, wrapping at the end of its part of the file.
 *
 * A reader reads random places of the writers' grid; readers of a `read` workload each read the part from a start of their own.
 * A spanning write lies half on each side of a stripe boundary.
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

/** What an operation on a file is given and gives back, and what is refused before anything happens. */
import type { Failure, Result } from '../base/result.ts'
import type { ResourceId } from './messages.ts'
import type { LockMode } from './modes.ts'
import { MAX_PIECES, type Extent } from './ranges.ts'

export interface OperationOptions {
  /** Mode to ask for instead of the one that is selected. */
  readonly mode?: LockMode | undefined
  /** Lock every touched stripe from its start to EOF. */
  readonly whole?: boolean | undefined
}

/** What an operation wrote: where in the objects, under which SN. */
export interface Written {
  /** Where in the file the first byte went. */
  readonly offset: number
  readonly parts: readonly {
    readonly resource: ResourceId
    readonly start: number
    readonly end: number
    readonly sn: number
  }[]
}

export type Done<T> = (result: Result<T>) => void
/** Content, which must not be changed once handed over, or a number of bytes where content is not carried. */
export type Data = Uint8Array | number

/** Bytes of an operation's data. */
export const lengthOf = (data: Data): number => (typeof data === 'number' ? data : data.length)

export const tooFar: Failure = {
  code: 'E_EXTENT',
  what: 'The extent is empty, inverted, out of order or beyond 2^53 bytes',
  unaffected: 'Nothing was written.',
}

/** Not empty, in order, of whole offsets below 2^53. */
export const isExtent = (start: number, end: number): boolean =>
  end > start && start >= 0 && Number.isSafeInteger(start) && Number.isSafeInteger(end)

/** Why a write of these extents is refused; null when it is not. */
export function badWrite(content: boolean, extents: readonly Extent[], data: Data): Failure | null {
  if (content !== (typeof data !== 'number')) {
    return { code: 'E_CONTENT', what: 'Bytes are written where they are carried, and only there' }
  }
  let bytes = 0
  let at = 0
  for (const { start, end } of extents) {
    if (start < at || !isExtent(start, end)) return tooFar
    bytes += end - start
    at = end
  }
  return extents.length > 0 && extents.length <= MAX_PIECES && bytes === lengthOf(data) ? null : tooFar
}

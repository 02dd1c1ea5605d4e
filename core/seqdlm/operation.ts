/** Operations on a file: options, results, and checks of their input. */
import type { Failure, Result } from '../base/result.ts'
import type { ResourceId } from './messages.ts'
import type { LockMode } from './modes.ts'
import { MAX_PIECES, type Extent } from './ranges.ts'

export interface OperationOptions {
  /** Mode to request instead of the selected one. */
  readonly mode?: LockMode | undefined
  /** Lock every touched stripe from its start to EOF. */
  readonly whole?: boolean | undefined
}

/** Result of a write: extents in the objects, with their SN. */
export interface Written {
  /** Offset of the first byte in the file. */
  readonly offset: number
  readonly parts: readonly {
    readonly resource: ResourceId
    readonly start: number
    readonly end: number
    readonly sn: number
  }[]
}

export type Done<T> = (result: Result<T>) => void
/** Content, which must not change after the call, or a number of bytes if content is not carried. */
export type Data = Uint8Array | number

/** Returns the number of bytes of an operation's data. */
export const lengthOf = (data: Data): number => (typeof data === 'number' ? data : data.length)

export const tooFar: Failure = {
  code: 'E_EXTENT',
  what: 'The extent is empty, inverted, out of order or beyond 2^53 bytes',
  unaffected: 'Nothing was written.',
}

/** True for a non-empty range of whole offsets below 2^53. */
export const isExtent = (start: number, end: number): boolean =>
  end > start && start >= 0 && Number.isSafeInteger(start) && Number.isSafeInteger(end)

/** Returns why a write of these extents is refused; null if it is not. */
export function badWrite(content: boolean, extents: readonly Extent[], data: Data): Failure | null {
  if (content !== (typeof data !== 'number')) {
    return { code: 'E_CONTENT', what: 'Writes must carry bytes if and only if the client carries content' }
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

/** Constructors for the files of a node: their place in the trees, and the usual read and write functions of the kernel. */
import { fail, ok, type Result } from '../../base/result.ts'
import type { Errno } from '../../lustre/errno.ts'
import type { Parameter, ParameterTree } from '../parameter.ts'

/** A mounted tree; LNet's files share debugfs with Lustre's. */
export type Place = 'proc' | 'sysfs' | 'debugfs' | 'lnet' | 'module'

const PLACES: Readonly<Record<Place, { readonly tree: ParameterTree; readonly root: string }>> = {
  proc: { tree: 'proc', root: '/proc/fs/lustre' },
  sysfs: { tree: 'sysfs', root: '/sys/fs/lustre' },
  debugfs: { tree: 'debugfs', root: '/sys/kernel/debug/lustre' },
  lnet: { tree: 'debugfs', root: '/sys/kernel/debug/lnet' },
  module: { tree: 'module', root: '/sys/module/ptlrpc/parameters' },
}

export type Write = (value: string) => Result<undefined, Errno>

/** Operations and attributes of a file, without its name. */
export type FileOps = Pick<Parameter, 'read' | 'write' | 'mode' | 'netlink'>

/** Creates a file from directory names and its own; names may contain dots, as NIDs do. */
export const file = (place: Place, parts: readonly string[], ops: FileOps): Parameter => ({
  name: parts.join('.'),
  path: `${PLACES[place].root}/${parts.join('/')}`,
  tree: PLACES[place].tree,
  ...ops,
})

/** File that always reads, and optionally accepts writes. */
export const text = (read: () => string, write?: Write): FileOps => ({
  read: () => ok(read()),
  ...(write ? { write } : {}),
})

/** A single value on its own line. */
export const line = (read: () => string | number, write?: Write): FileOps => text(() => `${read()}\n`, write)

/** Write-only file. */
export const writeOnly = (write: Write): FileOps => ({ read: () => fail('EACCES'), write, mode: 0o200 })

export const written = ok(undefined)

const NUMBER = /^\+?(?:(0x[0-9a-f]+)|(0[0-7]*)|([1-9]\d*))\n?$/i

/** Parses an unsigned number as the kernel does: decimal, `0x` hex or `0` octal, with or without a newline. */
export function kernelNumber(value: string): number | undefined {
  const m = NUMBER.exec(value)
  if (!m) return undefined
  const [, hex, octal, decimal] = m
  const n = hex !== undefined ? Number(hex) : octal !== undefined ? parseInt(octal, 8) : Number(decimal)
  return Number.isSafeInteger(n) ? n : undefined
}

export interface NumberLimits {
  readonly min?: number
  readonly max?: number
  /** Error for a number out of range. */
  readonly outside?: Errno
}

/** Readable and writable number; EINVAL if it is not a number. */
export function numberLine(get: () => number, set: (n: number) => void, limits: NumberLimits = {}): FileOps {
  const { min = 0, max = 2 ** 32 - 1, outside = 'EINVAL' } = limits
  return line(get, (value) => {
    const n = kernelNumber(value)
    if (n === undefined) return fail('EINVAL')
    if (n < min || n > max) return fail(outside)
    set(n)
    return written
  })
}

/** Number that servers have and that nothing emulated depends on; stored as written. */
export function storedNumber(initial: number, limits: NumberLimits = {}): FileOps {
  let value = initial
  return numberLine(
    () => value,
    (n) => {
      value = n
    },
    limits,
  )
}

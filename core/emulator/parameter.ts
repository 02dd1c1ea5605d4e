/**
 * Parameter file that lctl reads and writes; the state of an emulated node, as its shell sees it, is a list of these.
 *
 * The list is in any order; lctl sorts by tree and path. Directories are not listed: every part of a path is one. Every command
 * requests the list again, so unmounting a target removes its files.
 */
import type { Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'

/**
 * Tree of a file. lctl searches the trees in an order that differs by release (`LctlDialect.trees`); `module` is
 * /sys/module/MODULE/parameters, which only `get_param -o` of the development line searches.
 */
export type ParameterTree = 'proc' | 'sysfs' | 'debugfs' | 'module'

export interface Parameter {
  /** Name as lctl prints it: `ost.OSS.ost_io.nrs_policies`; the dots of a NID inside it stay dots. */
  readonly name: string
  /** Absolute path, which lctl names in its errors and matches its globs against. */
  readonly path: string
  readonly tree: ParameterTree
  /** Value as the kernel returns it, including a final newline if any; or the error of the read. */
  readonly read: () => Result<string, Errno>
  /** Writes a value, byte for byte; absent on a read-only file. */
  readonly write?: (value: string) => Result<undefined, Errno>
  /** Permission bits if not 0644 (with `write`) or 0444: 0200 is write-only, 0400 root only. */
  readonly mode?: number
  /** `directory` is an empty one; `link` a symbolic link to a file, which `-L` omits. */
  readonly kind?: 'directory' | 'link'
  /** Served over netlink to users who cannot see debugfs: `stats` tables since 2.17 (measured A12). */
  readonly netlink?: true
}

/** Permission bits of a file. */
export const modeOf = (p: Parameter): number => p.mode ?? (p.write ? 0o644 : 0o444)

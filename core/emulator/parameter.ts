/**
 * One file that lctl reads and writes: the whole of an emulated node's state as its shell sees it is a list of these.
 *
 * A list is in any order; lctl sorts by tree and path. Directories are not listed: every part of a path is one. The list
 * is asked for anew by every command, so a target that is unmounted takes its files with it.
 */
import type { Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'

/**
 * Where a file lives. lctl searches the trees in an order that differs by release (`LctlDialect.trees`); `module` is
 * /sys/module/MODULE/parameters, which only `get_param -o` of the development line looks at.
 */
export type ParameterTree = 'proc' | 'sysfs' | 'debugfs' | 'module'

export interface Parameter {
  /** As lctl prints it: `ost.OSS.ost_io.nrs_policies`; the dots of a NID inside it stay dots. */
  readonly name: string
  /** Absolute path, which lctl names in its errors and matches its globs against. */
  readonly path: string
  readonly tree: ParameterTree
  /** Value as the kernel gives it, with the newline that ends it, if it has one; or why the read fails. */
  readonly read: () => Result<string, Errno>
  /** Takes what was written, byte for byte; absent on a file nobody may write. */
  readonly write?: (value: string) => Result<undefined, Errno>
  /** Permission bits when they are not 0644 (with `write`) or 0444: 0200 is write-only, 0400 root's alone. */
  readonly mode?: number
  /** `directory` is an empty one; `link` a symbolic link to a file, which `-L` leaves out. */
  readonly kind?: 'directory' | 'link'
  /** Served over netlink to users who cannot see debugfs: `stats` tables since 2.17 (measured A12). */
  readonly netlink?: true
}

/** Permission bits of a file. */
export const modeOf = (p: Parameter): number => p.mode ?? (p.write ? 0o644 : 0o444)

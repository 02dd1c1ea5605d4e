/** One file that lctl reads and writes. */
import type { Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'

export interface Parameter {
  readonly name: string
  /** Path that lctl names in its errors. */
  readonly path: string
  /** Tree it lives in: lctl prints /proc before /sys before debugfs. */
  readonly tree: 'proc' | 'sysfs' | 'debugfs'
  readonly read: () => Result<string, Errno>
  readonly write?: (value: string) => Result<undefined, Errno>
}

/** What the releases differ in about the tool lctl: options, messages and exit codes. */
import type { Release } from './release.ts'

export interface LctlDialect {
  /** Which assignment of several gives set_param its exit code: the first that failed, or the last one. */
  readonly setParamExit: 'first error' | 'last'
}

export const LCTL_DIALECTS: Readonly<Record<Release, LctlDialect>> = {
  '2.12': { setParamExit: 'first error' },
  '2.15': { setParamExit: 'first error' },
  '2.16': { setParamExit: 'last' },
  '2.17': { setParamExit: 'last' },
  dev: { setParamExit: 'last' },
}

/** Requests of a process to its stage, and the stage's answers. Source: spec/padll 1.1-1.5. */
import type { PosixCall } from '../posix-calls.ts'
import type { ProcessFiles } from './process-files.ts'

/**
 * One POSIX call, or `count` equal ones that arrive together. Paths are as the process passed them: relative, `..`,
 * hostile.
 */
export interface StageRequest {
  readonly call: PosixCall
  /** Path of the call; the old path of `rename`. */
  readonly path?: string
  /** New path of `rename`. */
  readonly newPath?: string
  /** Directory of a relative `path` of an `*at` call; absent (AT_FDCWD): the working directory. */
  readonly dirfd?: number
  /** The same for `newPath`. */
  readonly newDirfd?: number
  /** Descriptor argument (`close`, `read`, `dup`, `fcntl`); the first one of `close_range`. */
  readonly fd?: number
  /** Requested number of `dup2`, `dup3`; the last one of `close_range`. */
  readonly newFd?: number
  /** Handle of a FILE*, as a number that the host gives it. */
  readonly file?: number
  /** Requested bytes; only data calls cost them. */
  readonly size?: number
  /** Equal operations that arrive together, integer >= 1, 1 if absent. Each pays its own cost. */
  readonly count?: number
  /** True if the call has a mode argument (O_CREAT); the stage switches `open`, `openat` and `open64` on separately with and without it. */
  readonly creates?: boolean
  /** `fcntl` with F_DUPFD or F_DUPFD_CLOEXEC. */
  readonly duplicates?: boolean
  /** Job of the process, if one stage serves several; default: the stage's own. */
  readonly job?: string
  readonly user?: string
  /** Workflow; default: drawn uniformly. */
  readonly workflow?: number
  /** Descriptors of the calling process; default: the stage's own (`stage.files`). */
  readonly files?: ProcessFiles
}

/** Reasons for a call to go unlimited. */
export const BYPASS_REASONS = [
  'unknown-call',
  'switched-off',
  'never-limited',
  'unmanaged-path',
  'unknown-descriptor',
  'not-ready',
  'no-channel',
  'no-object',
] as const
export type BypassReason = (typeof BYPASS_REASONS)[number]

export interface Forwarded {
  readonly kind: 'forwarded'
  readonly reason: BypassReason
  /** Position in BYPASS_REASONS. */
  readonly index: number
}

/**
 * Outcome of a submission. `forwarded` and `passed`: the host executes all of it now. `waits`: `passed` of its
 * operations go now, `waiting` of them later, reported through `onRelease` with this ticket.
 */
export type Outcome =
  | Forwarded
  | { readonly kind: 'passed' }
  | { readonly kind: 'waits'; readonly ticket: number; readonly passed: number; readonly waiting: number }

/**
 * Called for each lot of waiting operations that may go: `count` operations of `ticket` at `atNs` (never after the
 * latest time passed to the stage). The handler may submit again; these operations queue behind.
 */
export type ReleaseHandler = (ticket: number, count: number, atNs: number) => void

/** Result of an executed call: keeps descriptors and error counts right. */
export interface CallResult {
  /** The call failed. */
  readonly failed?: boolean
  /** Descriptor returned by `open`, `dup`, `fcntl(F_DUPFD)`, `fopen` (its descriptor). */
  readonly fd?: number
  /** Handle returned by `fopen`. */
  readonly file?: number
}

/** Constants, so that a request that does not wait allocates nothing. */
export const PASSED: Outcome = { kind: 'passed' }
const forwarded = (reason: BypassReason): Forwarded => ({
  kind: 'forwarded',
  reason,
  index: BYPASS_REASONS.indexOf(reason),
})
export const FORWARDED = {
  'unknown-call': forwarded('unknown-call'),
  'switched-off': forwarded('switched-off'),
  'never-limited': forwarded('never-limited'),
  'unmanaged-path': forwarded('unmanaged-path'),
  'unknown-descriptor': forwarded('unknown-descriptor'),
  'not-ready': forwarded('not-ready'),
  'no-channel': forwarded('no-channel'),
  'no-object': forwarded('no-object'),
} as const satisfies Record<BypassReason, Forwarded>

/** What a process asks of its stage, and what the stage answers. Source: spec/padll 1.1-1.5. */
import type { PosixCall } from '../posix-calls.ts'
import type { ProcessFiles } from './process-files.ts'

/** One POSIX call, or `count` equal ones that arrive together. Paths are as the process gave them: relative, `..`, hostile. */
export interface StageRequest {
  readonly call: PosixCall
  /** Path of the call; the old path of `rename`. */
  readonly path?: string
  /** New path of `rename`. */
  readonly newPath?: string
  /** Directory of a relative `path` of an `*at` call; without it (AT_FDCWD) the working directory. */
  readonly dirfd?: number
  /** The same for `newPath`. */
  readonly newDirfd?: number
  /** Descriptor that the call is about (`close`, `read`, `dup`, `fcntl`); the first one of `close_range`. */
  readonly fd?: number
  /** Wanted number of `dup2`, `dup3`; the last one of `close_range`. */
  readonly newFd?: number
  /** Handle of a FILE*, as a number that the host gives it. */
  readonly file?: number
  /** Bytes asked for; only data calls cost them. */
  readonly size?: number
  /** Equal operations that arrive together, integer >= 1, 1 if absent. Each costs for itself. */
  readonly count?: number
  /** The call has a mode argument (O_CREAT): another switch of `open`, `openat`, `open64`. */
  readonly creates?: boolean
  /** `fcntl` with F_DUPFD or F_DUPFD_CLOEXEC. */
  readonly duplicates?: boolean
  /** Whose process it is, where one stage serves several; else the stage's own. */
  readonly job?: string
  readonly user?: string
  /** Workflow; else one is drawn uniformly. */
  readonly workflow?: number
  /** Descriptors of the calling process; else the stage's own (`stage.files`). */
  readonly files?: ProcessFiles
}

/** Why a call went on without being limited. */
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
  /** Place in BYPASS_REASONS. */
  readonly index: number
}

/**
 * What became of a submission. `forwarded` and `passed`: the host executes all of it now. `waits`: `passed` of its operations
 * go now, `waiting` of them later, told through `onRelease` with this ticket.
 */
export type Outcome =
  | Forwarded
  | { readonly kind: 'passed' }
  | { readonly kind: 'waits'; readonly ticket: number; readonly passed: number; readonly waiting: number }

/**
 * Called for each lot of waiting operations that may go: `count` operations of `ticket` at `atNs` (never after the time the
 * stage was last told). The handler may submit again; what it submits queues behind.
 */
export type ReleaseHandler = (ticket: number, count: number, atNs: number) => void

/** What came of an executed call: keeps descriptors and error counts right. */
export interface CallResult {
  /** The call failed. */
  readonly failed?: boolean
  /** Descriptor that `open`, `dup`, `fcntl(F_DUPFD)`, `fopen` (its descriptor) gave. */
  readonly fd?: number
  /** Handle that `fopen` gave. */
  readonly file?: number
}

/** One value each, so that nothing is allocated for a request that does not wait. */
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

/** What main and the host's process say to each other; the contract itself goes through ports. */
import type { Failure } from '#core/base/result.ts'

/** Main to host: a port for a window comes with `connect`. */
export type ToHost = { readonly type: 'connect' } | { readonly type: 'close' }

/** Host to main. After `failed` or `closed` the host's process ends by itself. */
export type FromHost =
  { readonly type: 'ready' } | { readonly type: 'failed'; readonly failure: Failure } | { readonly type: 'closed' }

/** How main tells the host's process what to open: one JSON argument. */
export interface HostArguments {
  readonly historyFile: string
  readonly scenarioFile?: string
}

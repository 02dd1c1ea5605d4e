/**
 * Report of a fault of the window itself, as text for its developers: error, view, version. Contains no job or user
 * names.
 */
import type { Naming } from '../stores/source.ts'

export interface ViewFault {
  readonly view: string
  readonly name: string
  readonly message: string
  readonly stack: string
  readonly atMs: number
}

/**
 * Event handlers and watchers: an error there does not stop rendering. In production builds Vue passes a number
 * instead.
 */
const GOES_ON = /event handler|watcher|#runtime-(?:[2-6])$/
export const breaksView = (info: string): boolean => !GOES_ON.test(info)

const STACK_MAX = 4000
export function faultOf(error: unknown, view: string, atMs = Date.now()): ViewFault {
  const isError = error instanceof Error
  return {
    view,
    atMs,
    name: isError ? error.name : typeof error,
    message: isError ? error.message : String(error),
    stack: (isError ? (error.stack ?? '') : '').slice(0, STACK_MAX),
  }
}

export const reportOf = (fault: ViewFault, naming: Naming | null, about: { version: string; agent: string }): string =>
  [
    `Sluice ${about.version}, view ${fault.view}: ${fault.name}: ${fault.message}`,
    `at ${new Date(fault.atMs).toISOString()}, source ${naming?.kind ?? 'none'}`,
    about.agent,
    '',
    fault.stack,
  ].join('\n')

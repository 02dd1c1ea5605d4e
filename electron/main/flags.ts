/** Command line of the desktop shell: only file names; all other switches belong to Chromium. */
import { parseArgs } from 'node:util'

/** Parsed command line. */
export interface Flags {
  readonly history?: string
  readonly scenario?: string
}

/** Parses --history FILE and --scenario FILE and ignores switches that Chromium or a test driver added. */
export function readFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    strict: false,
    options: { history: { type: 'string' }, scenario: { type: 'string' } },
  })
  return {
    ...(typeof values.history === 'string' ? { history: values.history } : {}),
    ...(typeof values.scenario === 'string' ? { scenario: values.scenario } : {}),
  }
}

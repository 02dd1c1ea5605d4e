/** Command line of the desktop shell: only what names files; everything else belongs to Chromium. */
import { parseArgs } from 'node:util'

/** What the command line said. */
export interface Flags {
  readonly history?: string
  readonly scenario?: string
}

/** Reads --history FILE and --scenario FILE and passes over switches that Chromium or a test driver added. */
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

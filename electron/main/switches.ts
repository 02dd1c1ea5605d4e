/** Command line of the desktop shell: file names, and switches of Chromium and Node. */
import { parseArgs } from 'node:util'
import type { Failure } from '#core/base/result.ts'

/** Switches that give access to the program. Tests and developers need them; an installed console refuses them. */
const REFUSED: readonly string[] = [
  'remote-debugging-port',
  'remote-debugging-pipe',
  'remote-debugging-address',
  'remote-allow-origins',
  'inspect',
  'inspect-brk',
  'inspect-port',
  'inspect-publish-uid',
  'inspect-wait',
  'js-flags',
  'remote-debugging-io-pipes',
  'remote-debugging-targets',
  'remote-debugging-socket-name',
  'force-node-inspect',
  'disable-web-security',
  'disable-site-isolation-trials',
  'allow-file-access-from-files',
  'load-extension',
  'disable-extensions-except',
  'disable-site-isolation-for-policy',
  'user-data-dir',
  'require',
  'r',
  // Programs started in place of Sluice's own, and policies that would not be applied.
  'browser-subprocess-path',
  'renderer-cmd-prefix',
  'utility-cmd-prefix',
  'gpu-launcher',
  'zygote-cmd-prefix',
  'bypasscsp-schemes',
  'cors-schemes',
  'fetch-schemes',
  'service-worker-schemes',
  'standard-schemes',
  'secure-schemes',
  'streaming-schemes',
  'enable-blink-features',
  'single-process',
  'log-net-log',
]
/** Allowed only for root, where Chromium does not start otherwise. */
const WITHOUT_SANDBOX: readonly string[] = [
  'no-sandbox',
  'disable-gpu-sandbox',
  'disable-setuid-sandbox',
  'disable-seccomp-filter-sandbox',
  'disable-namespace-sandbox',
  'allow-sandbox-debugging',
  'no-zygote-sandbox',
  'no-zygote',
]

export interface Start {
  readonly isPackaged: boolean
  readonly isRoot: boolean
  readonly platform?: NodeJS.Platform
}

/** Failure if the command line has a refused switch; undefined otherwise. */
export function switchFailure(
  args: readonly string[],
  { isPackaged, isRoot, platform = process.platform }: Start,
): Failure | undefined {
  if (!isPackaged) return undefined
  const closed = isRoot ? REFUSED : [...REFUSED, ...WITHOUT_SANDBOX]
  const begins = platform === 'win32' ? /^(?:--?|\/)([a-z][a-z-]*)(?:=|$)/ : /^--?([a-z][a-z-]*)(?:=|$)/
  for (const arg of args) {
    // Parsed as Chromium does: surrounding space is trimmed; on Windows a slash starts a switch, and case is ignored.
    const name = begins.exec(arg.trim().toLowerCase())?.[1]
    if (name === undefined || !closed.includes(name)) continue
    return {
      code: 'SWITCH_REFUSED',
      what: 'Sluice does not start',
      why: `--${name} would give other programs access to it`,
      next: 'Start it without that switch.',
    }
  }
  return undefined
}

/** Parsed command line: only file names; all other switches belong to Chromium. */
interface Flags {
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

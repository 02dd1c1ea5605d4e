/** Switches of Chromium and Node that open a door into the program. Tests and developers need them; an installed console has no use for them. */
import type { Failure } from '#core/base/result.ts'

const DOORS: readonly string[] = [
  ...['remote-debugging-port', 'remote-debugging-pipe', 'remote-debugging-address', 'remote-allow-origins'],
  ...['inspect', 'inspect-brk', 'inspect-port', 'inspect-publish-uid', 'inspect-wait', 'js-flags'],
  ...['remote-debugging-io-pipes', 'remote-debugging-targets', 'remote-debugging-socket-name', 'force-node-inspect'],
  ...['disable-web-security', 'disable-site-isolation-trials', 'allow-file-access-from-files', 'load-extension'],
  ...['disable-extensions-except', 'disable-site-isolation-for-policy', 'user-data-dir', 'require', 'r'],
  // Programs that would be started in the place of ours, and policies that would not be applied.
  ...['browser-subprocess-path', 'renderer-cmd-prefix', 'utility-cmd-prefix', 'gpu-launcher', 'zygote-cmd-prefix'],
  ...['bypasscsp-schemes', 'cors-schemes', 'fetch-schemes', 'service-worker-schemes', 'standard-schemes'],
  ...['secure-schemes', 'streaming-schemes', 'enable-blink-features', 'single-process', 'log-net-log'],
]
/** Only as root, where Chromium does not start otherwise. */
const UNBOXED: readonly string[] = [
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

/** Why the program does not start with these words of its command line; undefined: it does. */
export function doorFailure(
  args: readonly string[],
  { isPackaged, isRoot, platform = process.platform }: Start,
): Failure | undefined {
  if (!isPackaged) return undefined
  const closed = isRoot ? DOORS : [...DOORS, ...UNBOXED]
  const begins = platform === 'win32' ? /^(?:--?|\/)([a-z][a-z-]*)(?:=|$)/ : /^--?([a-z][a-z-]*)(?:=|$)/
  for (const word of args) {
    // As Chromium reads it: space around a word is cut off; on Windows a slash begins a switch, and capitals are none.
    const name = begins.exec(word.trim().toLowerCase())?.[1]
    if (name === undefined || !closed.includes(name)) continue
    return {
      code: 'SWITCH_REFUSED',
      what: 'Sluice does not start',
      why: `--${name} would let other programs into it`,
      next: 'Start it without.',
    }
  }
  return undefined
}

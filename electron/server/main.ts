/** Entry point of the browser shell: opens the host, serves the console, prints its address, closes on a signal. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Command, InvalidArgumentError } from 'commander'
import { formatFailure, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Host } from '#electron/host/host.ts'
import { defaultHistoryFile } from './data-dir.ts'
import { METRICS_PATH, metricsOf, metricsText } from './metrics.ts'
import { serveConsole, type Served, type ServeOptions } from './serve.ts'

const USUAL_PORT = 7423
/** A signal must end the process within two seconds, even if a part does not close. */
const CLOSE_MS = 1800
/** Longest time that the host waits for a browser to fetch the page. */
const PAGE_MS = 250
/** Metrics before the host is open. */
const NO_METRICS = '# EOF\n'

const line = (text: string): void => void process.stdout.write(`${text}\n`)

/** Parsed command line of the browser shell. */
interface Flags {
  /** undefined: the usual port, or a free one if that is taken. */
  readonly port?: number
  readonly history?: string
  readonly scenario?: string
  /** Set to serve /metrics. */
  readonly metrics?: boolean
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('A number from 0 to 65535.')
  return Number(text)
}

/**
 * Parses flags, for example process.argv.slice(2). On --help, or on an unknown argument, commander prints and exits with 0 or
 * 2.
 */
function readFlags(args: readonly string[]): Flags {
  const command = new Command('sluice')
    .description('Serves the console on 127.0.0.1 and prints the address to open in a browser.')
    .option('--port <n>', 'port, 0 = any free one (default: 7423, or a free one when it is taken)', portNumber)
    .option('--history <file>', 'history file (default: in the data folder)')
    .option('--scenario <file>', 'scenario for the built-in emulator')
    .option('--metrics', 'serve /metrics as OpenMetrics text, to clients that send the printed token')
    .allowExcessArguments(false)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  return command.parse(args, { from: 'user' }).opts<Flags>()
}

function stop(failure: Failure): never {
  process.stderr.write(`sluice: ${formatFailure(failure)}\n`)
  process.exit(1)
}

function must<T>(result: Result<T>): T {
  return result.ok ? result.value : stop(result.error)
}

/** Serves on the requested port, otherwise on the usual one, or on a free one if that is taken. */
async function serveSomewhere(
  requestedPort: number | undefined,
  options: Omit<ServeOptions, 'port'>,
): Promise<Result<Served>> {
  if (requestedPort !== undefined) return serveConsole({ ...options, port: requestedPort })
  const usual = await serveConsole({ ...options, port: USUAL_PORT })
  if (usual.ok || usual.error.code !== 'PORT_TAKEN') return usual
  const free = await serveConsole({ ...options, port: 0 })
  if (free.ok) line(`Port ${USUAL_PORT} is taken; using ${free.value.port}.`)
  return free
}

/** Prints a new address for a second browser on `u` and Enter. */
function watchKeys(served: Served): void {
  const keys = createInterface({ input: process.stdin })
  keys.on('line', (typed) => {
    if (typed.trim() === 'u') line(`Sluice: ${served.freshUrl()}`)
  })
}

const flags = readFlags(process.argv.slice(2))
const webRoot = join(import.meta.dirname, '../../out/renderer')
if (!existsSync(join(webRoot, 'index.html'))) {
  stop({
    code: 'NOT_BUILT',
    what: 'The console is not built',
    why: `${webRoot} has no index.html`,
    next: 'Run `npm run build`, or `npm start`, which builds it.',
  })
}

const historyFile = must(flags.history === undefined ? defaultHistoryFile() : ok(flags.history))
// The page is served while the host opens.
const up: { host: Host | undefined } = { host: undefined }
const opening = Promise.withResolvers<Host>()
opening.promise.catch(() => undefined)
const metrics = flags.metrics ? metricsOf(() => (up.host ? metricsText(up.host.monitor) : NO_METRICS)) : undefined
const served = await serveSomewhere(flags.port, {
  router: opening.promise.then(({ router }) => router),
  webRoot,
  metrics,
  onUnknown: (...args) => up.host?.unknownVerb(...args),
  host: '127.0.0.1',
})
if (!served.ok) stop(served.error)

let closing = false
function close(): void {
  if (closing) return
  closing = true
  setTimeout(() => process.exit(0), CLOSE_MS).unref()
  const parts = served.ok ? served.value.close() : Promise.resolve()
  void parts.then(() => up.host?.close()).finally(() => process.exit(0))
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, close)

line(`Sluice: ${served.value.url}`)
if (metrics) {
  line(`Metrics: http://127.0.0.1:${served.value.port}${METRICS_PATH}, Authorization: Bearer ${metrics.token}`)
}
if (process.stdin.isTTY) {
  line('The address works once. u and Enter prints another; Ctrl-C stops the console.')
  watchKeys(served.value)
} else {
  line('The address works once. Ctrl-C stops the console.')
}

// Loading and opening the host blocks this process for about a second: a waiting browser gets its page first.
await Promise.race([served.value.taken, new Promise((resolve) => setTimeout(resolve, PAGE_MS))])
const { openHost } = await import('#electron/host/host.ts')
// After a signal nothing is opened any more; the process ends as soon as the port is free.
if (!closing) {
  const opened = await openHost({
    shell: 'browser',
    historyFile,
    ...(flags.scenario === undefined ? {} : { scenarioFile: flags.scenario }),
  })
  if (!opened.ok) {
    opening.reject(new Error(opened.error.what))
    stop(opened.error)
  }
  up.host = opened.value
  for (const notice of up.host.notices) process.stderr.write(`sluice: ${formatFailure(notice)}\n`)
  opening.resolve(up.host)
}

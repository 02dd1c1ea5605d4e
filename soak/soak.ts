/**
 * Soak test: the real host on an emulated cluster with changing jobs and faults, controllers in enforce mode, a small history
 * on disk and one window over a WebSocket; the run is recorded for the judge.
 */
import { ENDED_JOBS } from '#core/adaptbf/ended-jobs.ts'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import { serveConsole, type Served } from '#electron/server/serve.ts'
import { firstBrokenRecord } from '#electron/base/audit.ts'
import { churnScenario, lifeSeconds } from './churn-scenario.ts'
import { PeriodCounter, samplesExpected } from './period-counter.ts'
import type { MemoryLook, SoakRecord } from './record.ts'
import { Troubles } from './troubles.ts'
import { SoakWindow } from './window.ts'

export interface SoakOptions {
  /** Emulated seconds. */
  readonly seconds: number
  /** Emulated seconds per wall second; null: unpaced. */
  readonly speed: number | null
  /** Jobs started per hour. */
  readonly jobs: number
  readonly rate: number
  readonly periodMs: number
  readonly seed: number
  /** Idle time after which a job's record is closed, s; the job leaves memory with its last sample that has a record. */
  readonly forgetS: number
  /** Time that samples stay in memory, s. */
  readonly recentS: number
  /** Progress callback. */
  readonly say: (line: string) => void
}

/** Minimum history quota: a run of two hours writes several times as much. */
const QUOTA = 16 * 2 ** 20
/** Memory readings and operator actions: interval in emulated seconds, and maximum per run. */
const LOOK = { everyS: 20, most: 60 }
const DOING = { everyS: 120, most: 24 }
const TROUBLE_EVERY_S = 45
const KEEP = [
  ['raw', 600_000],
  ['1s', 3_600_000],
] as const

/** Samples kept in the raw tier, and time that a server keeps the counters of an idle job, s. */
const RING = 1_800
const SERVER_FORGETS_S = 900
/** Wall time without progress after which the emulator counts as stopped, ms. */
const STILL_MS = 90_000

const spacing = ({ everyS, most }: typeof LOOK, seconds: number): number => Math.max(everyS, seconds / most)

const forceCollection = ((): (() => void) => {
  if (globalThis.gc) return globalThis.gc
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()

function must<T>(result: Result<T>): T {
  if (result.ok) return result.value
  throw new Error(`${result.error.what}: ${result.error.why ?? ''}`)
}

/** Collects errors and warnings of the process until the returned function is called. */
function listen(errors: string[]): () => void {
  const write = process.stderr.write.bind(process.stderr)
  const note = (what: string) => (e: unknown) =>
    void errors.push(`${what}: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}`)
  const rejected = note('unhandled rejection')
  const warned = note('warning')
  process.stderr.write = (chunk: string | Uint8Array) => {
    errors.push(`stderr: ${String(chunk).trim()}`)
    return true
  }
  process.on('unhandledRejection', rejected).on('warning', warned)
  return () => {
    process.stderr.write = write
    process.off('unhandledRejection', rejected).off('warning', warned)
  }
}

/** Running soak. */
interface Running {
  readonly host: Host
  readonly served: Served
  readonly window: SoakWindow
}

/** Runs one soak. @throws when the console does not open at all. */
export async function soak(options: SoakOptions): Promise<SoakRecord> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-soak-'))
  const errors: string[] = []
  const deaf = listen(errors)
  // Standard streams are initialized before handles are counted, so that they are not attributed to the soak.
  void [process.stdout, process.stderr]
  const before = process.getActiveResourcesInfo().length
  try {
    const record = await run(options, folder, errors)
    deaf()
    return { ...record, errors, handles: await handlesAfter(before) }
  } catch (e) {
    deaf()
    for (const said of errors) process.stderr.write(`${said}\n`)
    throw e
  } finally {
    deaf()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function run(options: SoakOptions, folder: string, errors: string[]): Promise<SoakRecord> {
  const { seconds, speed, seed, periodMs, rate } = options
  // Every job lives for an eighth of the run.
  const started = (options.jobs * seconds) / 3600
  const alive = Math.max(4, Math.round(started / 8))
  const jobs = Math.round(started) + alive
  const plan = { seconds, jobs, alive, rate, periodMs, seed }
  const scenarioFile = join(folder, 'soak.yaml')
  writeFileSync(scenarioFile, churnScenario(plan))
  const troubles = new Troubles()
  const historyFile = join(folder, 'history.sqlite')
  const host = must(
    await openHost({
      shell: 'browser',
      historyFile,
      scenarioFile,
      seed,
      paced: false,
      reach: troubles.reach,
      forgetMs: options.forgetS * 1000,
      recentMs: options.recentS * 1000,
    }),
  )
  const { source } = host
  const monitor = host.monitor
  troubles.play(source.emulator, { seconds, everyS: TROUBLE_EVERY_S, seed })
  const served = must(await serveConsole({ router: host.router, webRoot: folder, port: 0, host: '127.0.0.1' }))
  const window = await SoakWindow.open(served.url)
  for (const [tier, keepMs] of KEEP) await window.api.history.setKeep({ tier, keepMs })
  await window.api.history.setQuota({ bytes: QUOTA })
  const book = new PeriodCounter(monitor, speed, (...of) => troubles.isBlind(...of))
  const unwatched = monitor.onChange(() => book.look())
  window.start()

  const life = lifeSeconds(plan)
  const began = { wall: performance.now(), cpu: process.cpuUsage() }
  // Started here, as the host would do: the first sample belongs to the run, too.
  if (speed !== null) {
    source.start((at) => monitor.tick(at))
    source.setSpeed(speed)
  }
  const seen = await drive({ host, served, window }, options, historyFile)
  // A sample in progress belongs to the run.
  if (speed !== null) await source.stop()
  unwatched()
  const expected = samplesExpected(source.nowNs() / NS_PER_S, periodMs)
  const keptS = options.forgetS + options.recentS
  const longAgoMs = monitor.nowMs() - (keptS + 2) * 1000
  const overdue = [...monitor.jobs.all].filter((j) => j.lastActiveMs < longAgoMs && j.jobId !== ENDED_JOBS).length
  const wallS = (performance.now() - began.wall) / 1000
  const reached = source.nowNs() / NS_PER_S / wallS
  const cpu = process.cpuUsage(began.cpu)
  const ended = await end({ host, served, window }, errors)
  const { taken, displaced, ...periods } = book.counts()
  return {
    run: { seconds, periodMs, seed, speed, wallS, reached, cpuS: (cpu.user + cpu.system) / 1e6 },
    jobs: { started: jobs, seen: ended.seen, most: seen.mostJobs, forgetS: options.forgetS, overdue },
    memory: seen.memory,
    steadyFromS: Math.max(seconds / 2, life + keptS),
    fullFromS: Math.max((RING * periodMs) / 1000, life + SERVER_FORGETS_S),
    samples: { expected, taken, displaced },
    ...periods,
    troubles: {
      ...Object.fromEntries(
        ['reboot', 'silent', 'slow', 'garbled', 'rules-lost'].map((k) => [
          k,
          troubles.happened.filter((h) => h.what === k).length,
        ]),
      ),
      'answers garbled': troubles.garbledAnswers,
      'answers delayed': troubles.slowAnswers,
      'faults of disks, network and stages':
        source.emulator.scenario.faults.length + (source.emulator.scenario.padll?.faults.length ?? 0),
    },
    file: { ...seen.file, quota: QUOTA, ...ended.evicted },
    window: { frames: window.frames, views: window.views, exports: window.exports, incidents: ended.incidents },
    audit: ended.audit,
    leftOnServers: ended.left,
    errors,
    handles: [],
  }
}

/** Drives the run to its end, with periodic checks. */
async function drive(running: Running, options: SoakOptions, historyFile: string) {
  const { host, window } = running
  const { seconds, speed } = options
  const { source } = host
  const memory: MemoryLook[] = []
  const file = { mostUsed: 0, mostOnDisk: 0 }
  let mostJobs = 0
  let doing: Promise<void> = Promise.resolve()
  let nextLookS = 0
  let moved = { atS: 0, wallMs: performance.now() }
  let nextDoingS = spacing(DOING, seconds)
  while (source.nowNs() < seconds * NS_PER_S) {
    if (speed === null) await forward(host, Math.min(seconds, source.nowNs() / NS_PER_S + 1))
    else await new Promise((resolve) => setTimeout(resolve, 100))
    const atS = source.nowNs() / NS_PER_S
    if (atS > moved.atS) moved = { atS, wallMs: performance.now() }
    // After a violated invariant the emulator stops permanently and reports on stderr; waiting further is pointless.
    else if (performance.now() - moved.wallMs > STILL_MS) throw new Error(`nothing moves since second ${atS}`)
    const { size } = host.monitor.jobs
    mostJobs = Math.max(mostJobs, size)
    if (atS >= nextDoingS) {
      nextDoingS += spacing(DOING, seconds)
      const incident = host.incidents.notebooks.list()[0]?.id ?? null
      doing = doing.then(() => window.doings(source.toUnixMs(source.nowNs()), incident))
      // Memory of a running export is not growth: in an unpaced run, exports would pile up.
      if (speed === null) await doing
    }
    if (atS < nextLookS) continue
    nextLookS += spacing(LOOK, seconds)
    forceCollection()
    const { heapUsed, external, rss } = process.memoryUsage()
    memory.push({ atS, heap: heapUsed, outside: external, rss, jobs: size })
    file.mostUsed = Math.max(file.mostUsed, usedOf(host))
    file.mostOnDisk = Math.max(file.mostOnDisk, statSync(historyFile).size)
    if (memory.length % 5 === 0) options.say(progress(host, memory))
  }
  await doing
  return { memory, mostJobs, file }
}

const progress = (host: Host, memory: readonly MemoryLook[]): string => {
  const m = memory.at(-1)
  const mb = (n = 0): string => `${(n / 2 ** 20).toFixed(0)} MB`
  return `${Math.round(m?.atS ?? 0)} s: heap ${mb(m?.heap)}, outside ${mb(m?.outside)}, RSS ${mb(m?.rss)}, ${m?.jobs} jobs in memory, ${host.source.achieved.toFixed(1)}x`
}

/** Runs a virtual second, then lets sockets and timers run. */
async function forward(host: Host, toS: number): Promise<void> {
  await host.source.runTo(Math.round(toS * NS_PER_S), (atNs) => host.monitor.tick(atNs))
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve))
}

const usedOf = (host: Host): number => {
  const db = host.monitor.history.connection()
  const pragma = (name: string): number => Number(db.pragma(name, { simple: true }))
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
}

/** Stops enforcing, checks for leftovers, and closes everything. */
async function end({ host, served, window }: Running, errors: string[]) {
  const { monitor } = host
  const { history } = monitor
  await window.api.source.setMode({ mode: 'observe' })
  await window.api.source.stopAll()
  await window.close()
  errors.push(...window.errors)
  // An hour of records is kept; earlier ones are covered by the anchor.
  const records = history.audit(0, Number.MAX_SAFE_INTEGER)
  const audit = { records: records.length, broken: firstBrokenRecord(records, history.auditAnchor()) }
  const evictions: Record<string, number> = {}
  let evictedSamples = 0
  for (const { reason, samples } of history.evictions()) {
    evictions[reason] = (evictions[reason] ?? 0) + samples
    evictedSamples += samples
  }
  const seen = history.count('job')
  const incidents = host.incidents.notebooks.list().length
  const left = leftOn(host)
  await served.close()
  await host.close()
  return { audit, evicted: { evictedSamples, evictions }, seen, incidents, left }
}

function leftOn({ source: { emulator } }: Host): string[] {
  const services = [
    ...emulator.oss.map((o) => ({ host: o.name, service: o.io })),
    ...emulator.mds.flatMap((m) => m.services.map((service) => ({ host: m.name, service }))),
  ]
  const rules = services.flatMap(({ host, service }) =>
    service.nrs.rules().flatMap(({ name }) => (isControllerRule(name) ? `rule ${name} on ${host}` : [])),
  )
  const timers = emulator.nodes.flatMap((n) => [...n.timers.keys()].map((unit) => `timer ${unit} on ${n.name}`))
  return [...rules, ...timers]
}

/** Active handles of the event loop beyond those before; polled for some time, because sockets close asynchronously. */
async function handlesAfter(before: number): Promise<string[]> {
  for (let i = 0; i < 40; i++) {
    if (process.getActiveResourcesInfo().length <= before) return []
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.getActiveResourcesInfo()
}

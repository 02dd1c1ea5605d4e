/**
 * A controller without a window: it decides every period, says so, and writes where the mode is enforce. However it ends, short of
 * being killed, it takes its rules away and looks whether they are gone; killed, the leases on the servers do.
 */
import type { Command } from 'commander'
import { NS_PER_MS } from '#core/base/units.ts'
import type { Mode } from '#core/control/controller.ts'
import { type ControllerName, isControllerRule } from '#core/controllers/registry.ts'
import { fail, formatFailure, ok, type Failure, type Result } from '#core/base/result.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { stopText } from '../enforce/store-stops.ts'
import { enterEnforce } from '../host/sources/other-consoles.ts'
import { flagsOf } from './clusters-flags.ts'
import { periodLine, periodText } from './control-lines.ts'
import { exitOf } from './rules/command-rules.ts'
import { isHopeless, openCluster, stopOpening, worstOf, type OpenCluster } from './live.ts'
import { EXIT, jsonText, line, plain, stopJson, type ExitCode } from './output.ts'

export interface ControlOptions {
  readonly json?: true
  readonly controller: ControllerName
  readonly mode: Mode
  readonly target?: string
  readonly for?: number
  readonly takeOver?: true
}

/** The unlock is renewed this often, as long as nothing ended it: it holds for 15 minutes. */
const RENEW_MS = 60_000
/** Longest wait for its rules to be gone at the end; the leases end them in a minute anyway. */
const GONE_MS = 30_000
/** Failures of a server on which nothing could be written. */
const NOT_WRITTEN: ReadonlySet<string> = new Set([
  ...['LEASE_FAILED', 'LEASE_UNKNOWN', 'RULES_NOT_APPLIED', 'NOT_ON_RECORD', 'VERSION_UNKNOWN'],
])
/** Samples after which a server shows what was taken away. */
const SEEN_AFTER = 3

class Run {
  readonly #cluster: OpenCluster
  readonly #options: ControlOptions
  #monitor: ClusterMonitor | undefined
  #off: () => void = () => undefined
  #end: (why: Failure | undefined) => void = () => undefined
  #sample = 0
  /** Number of the newest stop when enforce was asked for: a later one is not undone by a new connection. */
  #stopNumber: number | undefined
  #isEntering = false
  /** Servers on which it may have rules. */
  readonly #written = new Set<string>()
  readonly #ended: Promise<Failure | undefined>

  constructor(cluster: OpenCluster, options: ControlOptions) {
    this.#cluster = cluster
    this.#options = options
    this.#ended = new Promise((resolve) => (this.#end = resolve))
  }

  /** Until it is told to end, or cannot go on. @returns why it could not. */
  async run(): Promise<Failure | undefined> {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
    for (const signal of signals) process.once(signal, this.#told)
    const time = this.#options.for
    const over = time === undefined ? undefined : setTimeout(this.#told, time * 1000)
    const entered = await this.#enter()
    if (!entered.ok) this.#end(entered.error)
    const renew = setInterval(() => this.#renew(), RENEW_MS)
    // A cluster whose servers are all refused sends no more samples.
    const look = setInterval(() => void this.#look(), 250)
    const why = await this.#ended
    clearTimeout(over)
    clearInterval(renew)
    clearInterval(look)
    return why
  }

  readonly #told = (): void => this.#end(undefined)

  /** Takes over the present connection: its monitor is another one when a server came in that nobody knew. */
  async #enter(): Promise<Result<undefined>> {
    const { source } = this.#cluster
    const { controller, mode, takeOver } = this.#options
    const { monitor, guard } = source
    this.#monitor = monitor
    this.#off()
    if (mode === 'enforce') {
      const stopped = this.#stoppedSince(monitor)
      if (stopped) return fail(stopped)
      const may = guard?.mayEnter(mode) ?? ok(undefined)
      const opened = may.ok || may.error.code !== 'LOCKED' || !guard ? may : guard.unlock(this.#cluster.name)
      if (!opened.ok) return opened
    }
    const chosen = monitor.setController(controller)
    if (!chosen.ok) return chosen
    const set = mode === 'enforce' ? await enterEnforce(source, takeOver === true) : monitor.setMode(mode)
    if (!set.ok) return set
    this.#stopNumber ??= monitor.stops.last()?.number ?? 0
    this.#off = monitor.onChange(() => this.#onSample(monitor))
    return ok(undefined)
  }

  /** A stop while it was not connected; undefined where it has not enforced before. */
  #stoppedSince(monitor: ClusterMonitor): Failure | undefined {
    const last = monitor.stops.last()
    if (this.#stopNumber === undefined || last === undefined || last.number <= this.#stopNumber) return undefined
    return {
      code: 'STOPPED',
      what: 'The controller left enforce',
      why: stopText(last),
      unaffected: 'It is watched no more.',
    }
  }

  async #look(): Promise<void> {
    if (isHopeless(this.#cluster)) this.#end(undefined)
    if (this.#cluster.source.monitor === this.#monitor || this.#isEntering) return
    this.#isEntering = true
    const entered = await this.#enter()
    this.#isEntering = false
    if (!entered.ok) this.#end(entered.error)
  }

  #renew(): void {
    const { guard } = this.#cluster.source
    if (this.#options.mode === 'enforce' && guard?.mayEnter('enforce').ok) guard.unlock(this.#cluster.name)
  }

  #onSample(monitor: ClusterMonitor): void {
    const { mode } = monitor.loop
    if (this.#options.mode === 'enforce' && mode !== 'enforce') {
      const may = this.#cluster.source.guard?.mayEnter('enforce')
      const why = may && !may.ok ? may.error.why : monitor.jobIds.ended?.why
      const { leftWhy } = monitor.loop
      const locked = {
        code: 'LOCKED',
        what: 'The controller left enforce',
        why,
        unaffected: 'Its rules are taken away.',
      }
      this.#end(leftWhy ?? locked)
    }
    this.#noteWritten(monitor)
    if (monitor.sample === this.#sample) return
    this.#sample = monitor.sample
    const missing = this.#cluster.missing()
    line(this.#options.json ? jsonText(periodLine(monitor, missing)) : periodText(monitor, missing))
  }

  /** What the servers came to on which rules were to stand: a controller that could not write on them has not done its work. */
  codeOfServers(): ExitCode {
    const { monitor } = this.#cluster.source
    if (this.#options.mode !== 'enforce') return EXIT.done
    const failures = monitor.servers.map((host) => monitor.loop.failureOf(host)?.code)
    const failed = failures.filter((code) => code !== undefined && NOT_WRITTEN.has(code))
    if (failed.length === 0)
      return monitor.metadata.failures.some((f) => NOT_WRITTEN.has(f.code)) ? EXIT.partial : EXIT.done
    if (failed.includes('LEASE_UNKNOWN')) return EXIT.unknown
    return failed.length < failures.length ? EXIT.partial : EXIT.failed
  }

  /** Takes its rules away, and waits until they are seen to be gone. */
  async withdraw(): Promise<ExitCode> {
    this.#off()
    const { monitor } = this.#cluster.source
    if (monitor.loop.mode !== 'enforce' && this.#written.size === 0) return EXIT.done
    monitor.setMode('observe')
    // One sample may be under way and still write; the next takes away, and the one after that shows it.
    const enough = monitor.sample + SEEN_AFTER
    // A cluster that is slow to read is sampled seldom.
    const untilMs = performance.now() + Math.max(GONE_MS, (SEEN_AFTER + 2) * (monitor.source.periodNs / NS_PER_MS))
    const left = (): string[] => [...this.#written].filter((host) => !isGone(monitor, host))
    await new Promise<void>((resolve) => {
      const look = setInterval(() => {
        this.#noteWritten(monitor)
        const isOver = (monitor.sample >= enough && left().length === 0) || performance.now() > untilMs
        if (!isOver && !isHopeless(this.#cluster)) return
        clearInterval(look)
        resolve()
      }, 50)
    })
    const hosts = left()
    if (hosts.length === 0) return EXIT.done
    const why = `${hosts.join(', ')}: its rules were not seen to go; their leases end them within a minute`
    process.stderr.write(`sluice: ${plain(why)}\n`)
    return hosts.length < this.#written.size ? EXIT.partial : EXIT.unknown
  }

  #noteWritten(monitor: ClusterMonitor): void {
    for (const host of monitor.servers) if (monitor.loop.lease(host)?.isOpen) this.#written.add(host)
  }
}

/** Whether a server that answers shows no rule of a controller, and keeps no lease of this one. */
function isGone(monitor: ClusterMonitor, host: string): boolean {
  if (monitor.missing.has(host) || monitor.loop.lease(host)?.isOpen) return false
  return !(monitor.serviceReading(host, 'ost_io')?.rules ?? []).some((r) => isControllerRule(r.name))
}

const notTyped = (name: string, target: string | undefined): Failure => ({
  code: 'NOT_TYPED',
  what: 'The controller was not started',
  why: target === undefined ? 'enforce needs the name of the cluster' : `${target} is not the name of the cluster`,
  unaffected: 'Nothing was sent.',
  next: `Type --target ${name}.`,
})

export async function control(name: string, options: ControlOptions, command: Command): Promise<void> {
  const { json, mode, target } = options
  if (mode === 'enforce' && target !== name) return stopJson(notTyped(name, target), json, EXIT.usage)
  const opened = await openCluster(name, flagsOf(command), { comesBack: true })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const run = new Run(cluster, options)
  const why = await run.run()
  const code = run.codeOfServers()
  const left = await run.withdraw()
  if (why) process.stderr.write(`sluice: ${plain(formatFailure(why))}\n`)
  if (why && json) line(jsonText({ error: { code: why.code, message: formatFailure(why) } }))
  process.exitCode = left !== EXIT.done ? left : why ? exitOf(why) : code !== EXIT.done ? code : worstOf(cluster)
  await cluster.close()
}

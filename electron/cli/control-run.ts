/**
 * Headless controller: decides and reports every period, and writes rules in enforce mode. On exit it removes its rules and
 * verifies that they are gone; if it is killed, the leases on the servers remove them.
 */
import type { Command } from 'commander'
import { NS_PER_MS } from '#core/base/units.ts'
import type { Mode } from '#core/control/controller.ts'
import { type ControllerName, isControllerRule } from '#core/controllers/registry.ts'
import { fail, formatFailure, ok, type Failure, type Result } from '#core/base/result.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { stopText } from '../enforce/store-stops.ts'
import { startClearing } from '../host/sources/clear-counters.ts'
import { enterEnforce } from '../host/sources/other-consoles.ts'
import { flagsOf } from './clusters-flags.ts'
import { periodLine, periodText } from './control-lines.ts'
import { exitOf } from './rules/command-rules.ts'
import { isHopeless, openCluster, stopOpening, exitCodeOfRun, type OpenCluster } from './live.ts'
import { EXIT, jsonText, line, plain, stopJson, type ExitCode } from './output.ts'

export interface ControlOptions {
  readonly json?: true
  readonly controller: ControllerName
  readonly mode: Mode
  readonly target?: string
  readonly for?: number
  /** Control period of each server, ms; by default that of the cluster. */
  readonly period?: number
  readonly takeOver?: true
  /** Name of the cluster, typed to confirm that no other program reads job_stats. */
  readonly clearJobStats?: string
}

/** Interval between renewals of the unlock, which lasts 15 minutes. */
const RENEW_MS = 60_000
/** Longest wait for the rules to be removed on exit, ms; the leases remove them within a minute in any case. */
const GONE_MS = 30_000
/** Failures that mean that nothing could be written on a server. */
const NOT_WRITTEN: ReadonlySet<string> = new Set([
  'LEASE_FAILED',
  'LEASE_UNKNOWN',
  'RULES_NOT_APPLIED',
  'NOT_ON_RECORD',
  'VERSION_UNKNOWN',
])
/** Samples until a removal is visible. */
const SEEN_AFTER = 3

class Run {
  readonly #cluster: OpenCluster
  readonly #options: ControlOptions
  #monitor: ClusterMonitor | undefined
  #off: () => void = () => undefined
  #end: (why: Failure | undefined) => void = () => undefined
  #sample = 0
  /** Number of the newest stop when enforce mode was entered: a reconnect must not override a later one. */
  #stopNumber: number | undefined
  #isEntering = false
  /** Servers that may have rules of this run. */
  readonly #written = new Set<string>()
  readonly #ended: Promise<Failure | undefined>

  constructor(cluster: OpenCluster, options: ControlOptions) {
    this.#cluster = cluster
    this.#options = options
    this.#ended = new Promise((resolve) => (this.#end = resolve))
  }

  /** Runs until a signal, the end of `--for`, or a failure. @returns the failure, if any. */
  async run(): Promise<Failure | undefined> {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
    for (const signal of signals) process.once(signal, this.#onSignal)
    const time = this.#options.for
    const over = time === undefined ? undefined : setTimeout(this.#onSignal, time * 1000)
    const entered = await this.#enter()
    if (!entered.ok) this.#end(entered.error)
    const renew = setInterval(() => this.#renew(), RENEW_MS)
    // No samples arrive while all servers are refused.
    const look = setInterval(() => void this.#look(), 250)
    const why = await this.#ended
    clearTimeout(over)
    clearInterval(renew)
    clearInterval(look)
    return why
  }

  readonly #onSignal = (): void => this.#end(undefined)

  /** Attaches to the current connection; its monitor is replaced when a new server is found. */
  async #enter(): Promise<Result<undefined>> {
    const { source } = this.#cluster
    const { controller, mode, takeOver } = this.#options
    const { monitor, writeProtection } = source
    this.#monitor = monitor
    this.#off()
    if (mode === 'enforce') {
      const stopped = this.#stoppedSince(monitor)
      if (stopped) return fail(stopped)
      const may = writeProtection?.mayEnter(mode) ?? ok(undefined)
      const opened =
        may.ok || may.error.code !== 'LOCKED' || !writeProtection ? may : writeProtection.unlock(this.#cluster.name)
      if (!opened.ok) return opened
    }
    const chosen = monitor.setController(controller)
    if (!chosen.ok) return chosen
    const set = mode === 'enforce' ? await enterEnforce(source, takeOver === true) : monitor.setMode(mode)
    if (!set.ok) return set
    const cleared = await this.#startClearing()
    if (!cleared.ok) return cleared
    this.#stopNumber ??= monitor.stops.last()?.number ?? 0
    this.#off = monitor.onChange(() => this.#onSample(monitor))
    return ok(undefined)
  }

  async #startClearing(): Promise<Result<undefined>> {
    const { clearJobStats } = this.#options
    return clearJobStats === undefined ? ok(undefined) : startClearing(this.#cluster.source, clearJobStats)
  }

  /** Returns a stop that was issued while this run was disconnected; undefined if it has not enforced before. */
  #stoppedSince(monitor: ClusterMonitor): Failure | undefined {
    const last = monitor.stops.last()
    if (this.#stopNumber === undefined || last === undefined || last.number <= this.#stopNumber) return undefined
    return {
      code: 'STOPPED',
      what: 'The controller left enforce',
      why: stopText(last),
      unaffected: 'It is no longer sampled.',
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
    const { writeProtection } = this.#cluster.source
    if (this.#options.mode === 'enforce' && writeProtection?.mayEnter('enforce').ok)
      writeProtection.unlock(this.#cluster.name)
  }

  #onSample(monitor: ClusterMonitor): void {
    const { mode } = monitor.loop
    if (this.#options.mode === 'enforce' && mode !== 'enforce') {
      const may = this.#cluster.source.writeProtection?.mayEnter('enforce')
      const why = may && !may.ok ? may.error.why : monitor.jobIds.ended?.why
      const { leaveReason } = monitor.loop
      const locked = {
        code: 'LOCKED',
        what: 'The controller left enforce',
        why,
        unaffected: 'Its rules are removed.',
      }
      this.#end(leaveReason ?? locked)
    }
    this.#noteWritten(monitor)
    if (monitor.sample === this.#sample) return
    this.#sample = monitor.sample
    const missing = this.#cluster.missing()
    line(this.#options.json ? jsonText(periodLine(monitor, missing)) : periodText(monitor, missing))
  }

  /** Exit code for the servers: not `done` if rules could not be written on some of them. */
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

  /** Removes the rules of this run and waits until the servers show that they are gone. */
  async withdraw(): Promise<ExitCode> {
    this.#off()
    const { monitor } = this.#cluster.source
    if (monitor.loop.mode !== 'enforce' && this.#written.size === 0) return EXIT.done
    monitor.setMode('observe')
    // A sample in progress may still write; the next one removes, and the one after that shows the removal.
    const enough = monitor.sample + SEEN_AFTER
    // A cluster that is slow to read has long sampling periods.
    const untilMs = performance.now() + Math.max(GONE_MS, (SEEN_AFTER + 2) * (monitor.source.periodNs / NS_PER_MS))
    const remaining = (): string[] => [...this.#written].filter((host) => !isGone(monitor, host))
    await new Promise<void>((resolve) => {
      const look = setInterval(() => {
        this.#noteWritten(monitor)
        const isOver = (monitor.sample >= enough && remaining().length === 0) || performance.now() > untilMs
        if (!isOver && !isHopeless(this.#cluster)) return
        clearInterval(look)
        resolve()
      }, 50)
    })
    const hosts = remaining()
    if (hosts.length === 0) return EXIT.done
    const why = `${hosts.join(', ')}: removal of its rules was not confirmed; their leases remove them within a minute`
    process.stderr.write(`sluice: ${plain(why)}\n`)
    return hosts.length < this.#written.size ? EXIT.partial : EXIT.unknown
  }

  #noteWritten(monitor: ClusterMonitor): void {
    for (const host of monitor.servers) if (monitor.loop.lease(host)?.isOpen) this.#written.add(host)
  }
}

/** True if the server answers, shows no controller rule, and holds no lease of this run. */
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

const PERIOD_OF_SCENARIO: Failure = {
  code: 'PERIOD_OF_SCENARIO',
  what: 'The controller was not started',
  why: 'the period of the emulator is that of its scenario',
  unaffected: 'Nothing was sent.',
  next: 'Omit --period, or set control.period_ms in the scenario.',
}

export async function control(name: string, options: ControlOptions, command: Command): Promise<void> {
  const { json, mode, target } = options
  if (mode === 'enforce' && target !== name) return stopJson(notTyped(name, target), json, EXIT.usage)
  if (options.period !== undefined && name === 'emulator') return stopJson(PERIOD_OF_SCENARIO, json, EXIT.usage)
  const opened = await openCluster(name, flagsOf(command), { reconnects: true, controlMs: options.period })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const run = new Run(cluster, options)
  const why = await run.run()
  const code = run.codeOfServers()
  const remaining = await run.withdraw()
  if (why) process.stderr.write(`sluice: ${plain(formatFailure(why))}\n`)
  if (why && json) line(jsonText({ error: { code: why.code, message: formatFailure(why) } }))
  process.exitCode =
    remaining !== EXIT.done ? remaining : why ? exitOf(why) : code !== EXIT.done ? code : exitCodeOfRun(cluster)
  await cluster.close()
}

/**
 * Control loop of metadata beside the one of data RPCs: reads the operations of jobs on all MDTs, lets PADLL's
 * controller decide once a second (and at once when a job begins, a step of the policies is due or a setting changes),
 * and shows or writes the rules of `mdt` and `mdt_readpage`.
 *
 * A server that does not answer keeps its rules, and their rates remain reserved from every limit until its timer has
 * removed them; then it is left out. Nothing is tightened by missing counts.
 */
import type { MetadataSettings } from '#core/api/padll.ts'
import { ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { Mode } from '#core/control/controller.ts'
import { LIVE_FENCES, MODEL_FENCES, type Fences } from '#core/control/fences.ts'
import { serverRules } from '#core/control/server-rules.ts'
import { Watchdog, type Sight } from '#core/control/watchdog.ts'
import { PSFA_ADAPTIVE } from '#core/controllers/advances.ts'
import { profileOf } from '#core/lustre/profile.ts'
import { desiredOn } from '#core/padll/mds/compile.ts'
import { MetadataController, type MetadataDecision } from '#core/padll/mds/controller.ts'
import { MDS_SERVICES, type MdsService, type OpCounts } from '#core/padll/mds/operations.ts'
import type { PolicyInForce } from '#core/padll/mds/shares.ts'
import type { ServiceReading } from '#core/padll/mds/service-rules.ts'
import type { MdsServer } from '#core/padll/mds/spots.ts'
import type { Audit } from '../../base/audit.ts'
import type { Lease } from '../../enforce/lease.ts'
import { serviceReading, type NodeReading } from '../read/collector.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import type { PlanOutcome, ServerPeriod } from '../control/control-loop.ts'
import { idlePeriod } from '../control/control-loop.ts'
import type { JobIdWatch } from '../state/job-id-watch.ts'
import type { JobRegistry } from '../state/job-registry.ts'
import { MetadataPolicies, type PoliciesAt } from './policies.ts'
import { MetadataSeries } from './series.ts'
import { changedSettings, limitMap, type MetadataSettingsStore } from './settings.ts'
import type { MetadataChange, MetadataPreview, MetadataState, MetadataEvent, MetadataStep } from './state.ts'
import { type LastServer, metadataState } from './view.ts'
import { countsOf, MetadataWindow } from './window.ts'
import { MetadataWriter, type DesiredServices, type WriterOptions, type WrittenServer } from './writer.ts'
import { SERVICES } from '../../base/service.ts'

const DECISIONS_MAX = 200

/** Event log of metadata control, newest last: jobs that come and go, steps of the policies, lost servers, choices. */
class MetadataEvents {
  #events: MetadataEvent[] = []
  #seq = 0
  readonly #active = new Set<string>()
  #fallbacks: readonly string[] = []

  /** Last events, oldest first. */
  get last(): readonly MetadataEvent[] {
    return this.#events
  }

  add(atMs: number, kind: MetadataEvent['kind'], text: string, where: string): void {
    // A new list each time: stored states keep the old one.
    this.#events = [...this.#events, { seq: ++this.#seq, atMs, kind, text, where }].slice(-DECISIONS_MAX)
  }

  /** Adds steps of the policies that came into force since the last call. */
  policies(atMs: number, steps: readonly MetadataStep[]): void {
    const now = new Set<string>()
    for (const s of steps) {
      if (s.state !== 'active' && s.state !== 'unknown-job') continue
      const key = [s.line, s.atS, s.kind, s.job, s.scope, s.value].join('\u0000')
      now.add(key)
      if (!this.#active.has(key)) this.add(atMs, 'policy', `${s.kind} ${s.job} ${s.scope} ${s.value}`, `line ${s.line}`)
    }
    this.#active.clear()
    for (const key of now) this.#active.add(key)
  }

  /** Adds an event for each scope in which an advance is replaced by the paper's rule since this call. */
  fallbacks(atMs: number, scopes: readonly string[]): void {
    for (const scope of scopes) {
      if (this.#fallbacks.includes(scope)) continue
      this.add(atMs, 'controller', `${scope}: ${PSFA_ADAPTIVE.fallback}`, '')
    }
    this.#fallbacks = scopes
  }
}

/** Input of one sample. */
export interface MetadataSample {
  readonly sample: number
  readonly atNs: number
  readonly mode: Mode
  readonly read: readonly { readonly node: NodeConnection; readonly reading: NodeReading }[]
  /** Set while a metadata server is still being read: the total operations of jobs are unknown. */
  readonly isLate: boolean
  /** Metadata servers that do not answer, with the reasons. */
  readonly silent: ReadonlyMap<string, string>
  readonly jobs: JobRegistry
}

/** Window over which operations of jobs are judged, s, or one sample if samples are longer. */
const SPAN_S = 1

export class MetadataLoop {
  readonly series: MetadataSeries
  readonly #source: ClusterSource
  readonly #writer: MetadataWriter
  readonly #controller: MetadataController
  readonly #window: MetadataWindow
  /** Holds partially visible servers, then relaxes them. */
  readonly #watchdog: Watchdog
  /** Watchdog's verdict on each server that answered in the newest sample. */
  readonly #seen = new Map<string, Sight>()
  readonly #fences: Fences
  readonly #jobIds: Pick<JobIdWatch, 'isSystem'>
  /** Time since which plans have been shown; undefined while there are none. */
  #shownSinceNs: number | undefined
  readonly #events = new MetadataEvents()
  readonly #settingsStore: MetadataSettingsStore | undefined
  readonly #servers = new Map<string, LastServer>()
  #settings: MetadataSettings
  #policies: MetadataPolicies
  #decision: MetadataDecision | undefined
  #inForce: readonly PolicyInForce[] = []
  #mode: Mode
  #cycle = 0
  #cycleMs: number | null = null
  #steppedNs = -Infinity
  #shownNs = -Infinity
  /** A setting changed since the last cycle. */
  #isDue = true

  constructor(
    source: ClusterSource,
    audit: Audit,
    session: string,
    start: {
      readonly mode: Mode
      readonly settings: MetadataSettings
      /** @default by the kind of the source: narrower on real servers */
      readonly fences?: Fences | undefined
      /** Identifies jobs that are never limited. */
      readonly jobIds: Pick<JobIdWatch, 'isSystem'>
    } & WriterOptions,
    settingsStore?: MetadataSettingsStore,
  ) {
    this.#source = source
    this.#mode = start.mode
    this.#settingsStore = settingsStore
    this.#settings = settingsStore?.load() ?? start.settings
    if (this.#settings.policies !== '' && this.#settings.startedMs === null) {
      this.#settings = { ...this.#settings, startedMs: this.#nowMs() }
    }
    this.#policies = new MetadataPolicies(this.#settings.policies)
    this.#writer = new MetadataWriter(source, audit, session, start)
    this.#jobIds = start.jobIds
    this.#fences = start.fences ?? (source.kind === 'LIVE' ? LIVE_FENCES : MODEL_FENCES)
    this.#controller = new MetadataController(controlOf(this.#settings), this.#fences)
    this.#watchdog = new Watchdog(this.#fences.holdNs)
    this.#window = new MetadataWindow(SPAN_S)
    this.series = new MetadataSeries(SPAN_S)
  }

  get settings(): MetadataSettings {
    return this.#settings
  }

  /** True if there is anything to control: sources without metadata servers have no metadata control. */
  get hasServers(): boolean {
    return this.#source.nodes.some((n) => n.roles.includes('mds'))
  }

  get failures(): readonly Failure[] {
    return [...this.#writer.failures, ...(this.#decision?.failures ?? [])]
  }

  /** State of the control cycle at or before a sample; undefined if it is no longer (or not yet) known. */
  stateAt(sample: number): MetadataState | undefined {
    return this.series.stateAt(sample)
  }

  outcome(host: string, service: string): PlanOutcome | undefined {
    const known = MDS_SERVICES.find((s) => s === service)
    return known && this.#writer.outcome(host, known)
  }

  lease(host: string): Lease | undefined {
    return this.#writer.lease(host)
  }

  /** Servers with a pending command. */
  get busy(): ReadonlySet<string> {
    return this.#writer.busy
  }

  /** Resolves when no command is pending, or after so many ms of wall time; @returns servers that still have one. */
  over(ms: number): Promise<ReadonlySet<string>> {
    return this.#writer.over(ms)
  }

  /** Checks a change; `apply` applies it. Failures: those of `changedSettings`. */
  check(change: MetadataChange): Result<MetadataSettings> {
    return changedSettings(this.#settings, change, this.#nowMs())
  }

  apply(settings: MetadataSettings, what: string): void {
    const isOther = settings.policies !== this.#settings.policies || settings.startedMs !== this.#settings.startedMs
    if (isOther) this.#policies = new MetadataPolicies(settings.policies)
    this.#settings = settings
    this.#controller.setSettings(controlOf(settings))
    this.#settingsStore?.keep(settings)
    this.#isDue = true
    this.#events.add(this.#nowMs(), 'controller', what, this.#source.cluster)
  }

  /** Commands that a change would send if it applied from now on. Nothing is stored. */
  preview(change: MetadataChange, jobs: JobRegistry): Result<MetadataPreview> {
    const checked = this.check(change)
    if (!checked.ok) return checked
    const settings = checked.value
    const isKnown = (job: string): boolean => jobs.find(job) !== undefined
    const at = new MetadataPolicies(settings.policies).at(secondOf(settings, this.#nowMs()), isKnown)
    const servers = this.#observed()
    const trial = new MetadataController(controlOf(settings), this.#fences)
    const { rules, unexpressed } = trial.step(this.#source.nowNs(), {
      servers,
      policies: at.inForce,
      clientsOf: (job) => jobs.find(job)?.nodes,
      isExempt: (job) => this.#isExempt(job, jobs),
    })
    const commands = [...this.#servers.values()].map(({ written, reading }) => ({
      host: reading.host,
      commands: MetadataWriter.commandsOf(written, desiredOf(rules, reading.host)),
    }))
    return ok({ steps: at.steps, unexpressed, commands })
  }

  /**
   * Processes one sample, and decides if due.
   *
   * @returns  the servers that answered, with their rules for the next period.
   */
  async look(s: MetadataSample): Promise<ReadonlyMap<string, ServerPeriod>> {
    const began = performance.now()
    const atMs = this.#source.toUnixMs(s.atNs)
    if (s.mode !== this.#mode) {
      this.#mode = s.mode
      this.#writer.forgetFailures()
      this.#isDue = true
    }
    if (this.#mode === 'observe' || this.#settings.policies === '') this.#shownSinceNs = undefined
    else this.#shownSinceNs ??= s.atNs
    const counts = this.#take(s, atMs)
    const isDue = this.#isTime(s, counts)
    if (isDue) this.#decide(s)
    if (isDue || this.#mode !== 'enforce' || this.#shadowRemainingNs(s.atNs) > 0) await this.#write(s, isDue)
    this.series.push(atMs, counts, this.#decision?.shares ?? [], this.#settings, this.#source.periodNs / NS_PER_S)
    if (isDue) this.#cycleMs = performance.now() - began
    if (isDue || this.#isStale(s.atNs)) {
      this.#shownNs = s.atNs
      const policies = this.#policies.at(secondOf(this.#settings, atMs), (job) => s.jobs.find(job) !== undefined)
      this.#events.policies(atMs, policies.steps)
      this.series.keep(this.#stateNow(s.sample, atMs, policies))
    }
    return new Map(s.read.map(({ reading }) => [reading.host, this.#period(reading)]))
  }

  /** Counts of the sample by job, one map per server; undefined if a server was not measured. */
  #take(s: MetadataSample, atMs: number): ReadonlyMap<string, readonly OpCounts[]> | undefined {
    let isWhole = s.silent.size === 0 && !s.isLate
    const all = new Map<string, OpCounts[]>()
    const periodS = this.#source.periodNs / NS_PER_S
    for (const { node, reading } of s.read) {
      const { host } = reading
      const counts = countsOf(reading)
      this.#window.add(host, counts, periodS)
      this.#seen.set(host, this.#watchdog.look(host, reading.targets, s.atNs))
      isWhole &&= counts !== undefined
      for (const [job, ops] of counts ?? []) {
        const list = all.get(job)
        if (list) list.push(ops)
        else all.set(job, [ops])
      }
      const known = this.#servers.get(host)
      if (known?.silent !== undefined) this.#events.add(atMs, 'lost', `${host} answers again`, host)
      this.#servers.set(host, {
        written: { node, services: statesOf(reading) },
        reading,
        seenMs: atMs,
        silent: undefined,
      })
    }
    for (const [host, why] of s.silent) {
      this.#window.add(host, undefined, periodS)
      const known = this.#servers.get(host)
      if (!known || known.silent !== undefined) continue
      known.silent = why
      this.#events.add(atMs, 'lost', `${host} does not answer: ${why}`, host)
    }
    return isWhole ? all : undefined
  }

  #isTime(s: MetadataSample, counts: ReadonlyMap<string, unknown> | undefined): boolean {
    // Without any counts there is nothing to judge by: the rules stay.
    if (!s.read.some(({ reading }) => this.#window.has(reading.host))) return false
    const before = this.#inForce
    this.#inForce = this.#policies.advance(secondOf(this.#settings, this.#nowMs()))
    if (this.#isDue || before !== this.#inForce) return true
    const sinceNs = s.atNs - this.#steppedNs
    // After the clock was set back, a new cycle begins.
    if (sinceNs >= this.#settings.intervalMs * NS_PER_MS || sinceNs < 0) return true
    return this.#inForce.some((p) => counts?.has(p.job) === true && !this.#controller.isActive(p.job))
  }

  /**
   * True if the state is old: while nothing can be decided, silent servers are shown all the same, without old figures.
   */
  #isStale(atNs: number): boolean {
    const sinceNs = atNs - this.#shownNs
    return this.hasServers && (sinceNs >= this.#settings.intervalMs * NS_PER_MS || sinceNs < 0)
  }

  /** Servers as input of the controller; a silent one is included while rules of Sluice may be in force there. */
  #observed(): MdsServer[] {
    const nowNs = this.#source.nowNs()
    return [...this.#servers.values()].flatMap(({ reading, written, silent }) => {
      const { host, version } = reading
      if (silent !== undefined && (this.#writer.lease(host)?.state?.expiresNs ?? 0) <= nowNs) return []
      const profile = profileOf(version)
      const service = (name: MdsService): ServiceReading => {
        const policies = serviceReading(reading, SERVICES[name])?.policies ?? []
        const { rules } = written.services[name]
        return { rules, tbf: serverRules(host, policies, rules, profile).tbf }
      }
      const services = { mdt: service('mdt'), mdt_readpage: service('mdt_readpage') }
      // Rules of a partially visible server are unchanged.
      const isWhole = silent === undefined && this.#seen.get(host) === 'act'
      const counts = isWhole ? this.#window.of(host) : undefined
      return [{ host, profile, services, jobs: counts?.jobs, spanS: counts?.spanS ?? 1 }]
    })
  }

  #isExempt(job: string, jobs: JobRegistry): boolean {
    return this.#jobIds.isSystem(job, jobs.find(job)?.user ?? '')
  }

  /** Time for which plans are still only shown although the mode is enforce, ns. */
  #shadowRemainingNs(nowNs: number): number {
    return Math.max(0, (this.#shownSinceNs ?? nowNs) + this.#fences.shadowNs - nowNs)
  }

  #decide(s: MetadataSample): void {
    this.#isDue = false
    this.#steppedNs = s.atNs
    this.#cycle++
    const clientsOf = (job: string): number | undefined => s.jobs.find(job)?.nodes
    const isExempt = (job: string): boolean => this.#isExempt(job, s.jobs)
    const observation = { servers: this.#observed(), policies: this.#inForce, clientsOf, isExempt }
    this.#decision = this.#controller.step(s.atNs, observation)
    const atMs = this.#source.toUnixMs(s.atNs)
    for (const job of this.#decision.joined) this.#events.add(atMs, 'join', `${job} began`, '')
    for (const job of this.#decision.left) this.#events.add(atMs, 'leave', `${job} is idle`, '')
    this.#events.fallbacks(atMs, this.#decision.fallbacks)
  }

  async #write(s: MetadataSample, isDue: boolean): Promise<void> {
    const answering = [...this.#servers.values()].filter((x) => x.silent === undefined)
    const relaxed = new Set<string>()
    const remainingNs = this.#shadowRemainingNs(s.atNs)
    if (this.#mode === 'enforce' && remainingNs === 0) {
      const measured = answering.filter(({ reading }) => {
        const seen = this.#seen.get(reading.host)
        if (seen === 'relax') relaxed.add(reading.host)
        return seen !== 'relax' && this.#window.has(reading.host) && reading.version !== undefined
      })
      await Promise.all(
        answering
          .filter(({ reading }) => relaxed.has(reading.host) && this.#writer.isWritten(reading.host))
          .map(({ written }) => this.#writer.withdraw(written)),
      )
      const rules = this.#decision?.rules ?? []
      await this.#writer.keep(
        measured.map(({ written, reading }) => ({ server: written, desired: desiredOf(rules, reading.host) })),
        s.atNs,
      )
      return
    }
    const hasRules = (x: LastServer): boolean => this.#writer.isWritten(x.reading.host)
    const remaining = answering.filter(hasRules)
    if (this.#mode !== 'observe' && isDue) {
      const remainingS = Math.ceil(remainingNs / NS_PER_S)
      const detail = this.#mode === 'enforce' ? `shown first, written in ${remainingS} s` : 'advise: not written'
      for (const { written, reading } of answering.filter((x) => !hasRules(x))) {
        this.#writer.show(written, desiredOf(this.#decision?.rules ?? [], reading.host), detail)
      }
    }
    await Promise.all(remaining.map(({ written }) => this.#writer.withdraw(written)))
  }

  #period(reading: NodeReading): ServerPeriod {
    const services = this.#servers.get(reading.host)?.written.services ?? statesOf(reading)
    const others = reading.others.map(({ service, rules, rulesText }) => {
      const written = service.name === 'mdt_readpage' ? services.mdt_readpage : undefined
      return { service: service.name, rules: written?.rules ?? rules, rulesText: written?.rulesText ?? rulesText }
    })
    const idle = idlePeriod(reading.host, services.mdt.rules, services.mdt.rulesText)
    return { ...idle, service: 'mdt', others }
  }

  #stateNow(sample: number, atMs: number, policies: PoliciesAt): MetadataState {
    return metadataState({
      sample,
      atMs,
      cycle: this.#cycle,
      cycleMs: this.#cycleMs,
      settings: this.#settings,
      decision: this.#decision,
      policies,
      failures: this.failures,
      events: this.#events.last,
      hosts: this.#source.nodes.filter((n) => n.roles.includes('mds')).map((n) => n.host),
      serverOf: (host) => this.#servers.get(host),
      countsOf: (host) => this.#window.of(host),
      leaseUntilMs: (host) => {
        const state = this.#writer.lease(host)?.state
        return state ? this.#source.toUnixMs(state.expiresNs) : null
      },
    })
  }

  #nowMs(): number {
    return this.#source.toUnixMs(this.#source.nowNs())
  }
}

/** Second of the policy file at a time. */
const secondOf = ({ startedMs }: MetadataSettings, nowMs: number): number =>
  startedMs === null ? 0 : Math.max(0, (nowMs - startedMs) / 1000)

const controlOf = (s: MetadataSettings): ConstructorParameters<typeof MetadataController>[0] => ({
  algorithm: s.algorithm,
  epsilon: s.epsilon,
  slots: s.slots,
  limits: limitMap(s),
})

const desiredOf = (rules: Parameters<typeof desiredOn>[0], host: string): DesiredServices => ({
  mdt: desiredOn(rules, host, 'mdt'),
  mdt_readpage: desiredOn(rules, host, 'mdt_readpage'),
})

function statesOf(reading: NodeReading): WrittenServer['services'] {
  const state = (name: MdsService): { rules: NodeReading['rules']; rulesText: string } => {
    const { rules = [], rulesText = '' } = serviceReading(reading, SERVICES[name]) ?? {}
    return { rules, rulesText }
  }
  return { mdt: state('mdt'), mdt_readpage: state('mdt_readpage') }
}

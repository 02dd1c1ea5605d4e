/**
 * A Haechi data node in the emulated cluster: clients join, leave and crash as the scenario says, and its clock follows the
 * cluster's. A change of variant or preset starts a new run; earlier runs stay readable for a while.
 */
import { fail, invariant, ok, type Failure, type Result } from '../base/result.ts'
import { NS_PER_MS, sToNs } from '../base/units.ts'
import { admission, admissionRefusal, type AdmissionAnswer, type AdmissionInput } from '../haechi/admission.ts'
import {
  BASIC,
  checkTokens,
  PRESET_SETTINGS,
  profiledTokens,
  type EstimatorSettings,
  type HaechiSettings,
} from '../haechi/settings.ts'
import type { DataNode, DataNodeMark, DataNodeRun } from '../haechi/data-node.ts'
import { NodeSimulation } from '../haechi/sim/node-simulation.ts'
import { NODE_DEFAULTS, type ClientSetup } from '../haechi/sim/setup.ts'
import type { Workload } from '../haechi/workloads/request-source.ts'
import type { Simulation } from '../sim/simulation.ts'
import type { HaechiPreset, HaechiVariant } from '../controllers/settings.ts'
import type { DataNodeScenario, HaechiClientScenario } from './scenario-haechi.ts'

/** Largest lag of the node behind the cluster's clock: many short steps instead of few long ones. */
const CATCH_UP_NS = 5 * NS_PER_MS
const SAMPLE_NS = 4 * NS_PER_MS
/** Samples kept (one minute), and runs kept. */
const SAMPLES = 15_000
const RUNS_MOST = 3
const PERIODS_MOST = 1000

/** Run of the simulation, with its scenario entries by client index. */
export interface EmulatedRun extends DataNodeRun {
  readonly node: NodeSimulation
  readonly clients: readonly HaechiClientScenario[]
}

interface OpenRun extends EmulatedRun {
  readonly clients: HaechiClientScenario[]
  readonly marks: DataNodeMark[]
}

interface Promised {
  readonly reservation: number
  readonly limit: number | null
}

export class EmulatedDataNode implements DataNode {
  readonly scenario: DataNodeScenario
  readonly #sim: Simulation
  readonly #seed: number
  readonly #runs: OpenRun[] = []
  /** Present clients with their reservations and limits. */
  readonly #present = new Map<string, Promised>()
  #variant: HaechiVariant
  #preset: HaechiPreset
  #capacity: number

  constructor(sim: Simulation, scenario: DataNodeScenario, seed: number) {
    this.#sim = sim
    this.scenario = scenario
    this.#seed = seed
    this.#variant = scenario.variant
    this.#preset = scenario.preset
    this.#capacity = scenario.global_iops
    for (const c of scenario.clients) if (c.start_s === 0) this.#present.set(c.name, c)
    this.#begin()
    this.#plan()
    const catchUp = (): void => {
      this.#catchUp()
      sim.after(CATCH_UP_NS, catchUp)
    }
    sim.after(CATCH_UP_NS, catchUp)
  }

  get name(): string {
    return this.scenario.name
  }

  get variant(): HaechiVariant {
    return this.#variant
  }

  get preset(): HaechiPreset {
    return this.#preset
  }

  /** Present clients with their reservations and limits. */
  get present(): readonly { readonly name: string; readonly reservation: number; readonly limit: number | null }[] {
    return [...this.#present].map(([name, { reservation, limit }]) => ({ name, reservation, limit }))
  }

  /** Capacity in force, I/O/s. */
  get capacityIops(): number {
    return this.#capacity
  }

  /** Run at a time of the cluster's clock, caught up to it; undefined if no longer kept. */
  run(atNs: number): EmulatedRun | undefined {
    this.#catchUp()
    return this.#runs.findLast((r) => r.fromNs <= atNs)
  }

  /** Kept runs, oldest first, the last caught up. */
  get runs(): readonly EmulatedRun[] {
    this.#catchUp()
    return this.#runs
  }

  /** Starts a new run with another variant or preset; clients and capacity stay. */
  change(change: { readonly variant?: HaechiVariant | undefined; readonly preset?: HaechiPreset | undefined }): void {
    const { variant = this.#variant, preset = this.#preset } = change
    if (variant === this.#variant && preset === this.#preset) return
    this.#catchUp()
    this.#variant = variant
    this.#preset = preset
    this.#begin()
  }

  /** Admission result for a client's reservation, without applying it. */
  check(client: string, reservation: number): Result<AdmissionAnswer> {
    const input = this.#admission(client, reservation)
    if (!input.ok) return input
    const answer = admission(input.value)
    return ok(this.#isLess(client, reservation) ? { ...answer, isAdmitted: true, reasons: [] } : answer)
  }

  /** Sets a client's reservation and limit from the next period on. */
  reserve(client: string, reservation: number, limit: number | null): Result<void> {
    const input = this.#admission(client, reservation)
    if (!input.ok) return input
    const bad = limit === null ? null : checkTokens('The limit', limit)
    const refusal = bad ?? (this.#isLess(client, reservation) ? null : admissionRefusal(input.value))
    if (refusal) return fail(refusal)
    this.#catchUp()
    const index = this.#indexOf(client)
    if (this.#variant !== 'bare') {
      if (index === undefined) return fail(this.#unknown(client))
      const reserved = this.#open.node.reserve(index, reservation, limit)
      if (!reserved.ok) return reserved
    }
    this.#present.set(client, { reservation, limit })
    return ok(undefined)
  }

  /** Reducing a reservation is never refused: it resolves overcommitment. */
  #isLess(client: string, reservation: number): boolean {
    const held = this.#present.get(client)
    return held !== undefined && reservation < held.reservation
  }

  get #open(): OpenRun {
    const run = this.#runs.at(-1)
    invariant(run !== undefined, 'a data node runs from its beginning')
    return run
  }

  #unknown(client: string): Failure {
    return {
      code: 'E_CLIENT',
      what: `No client called ${client} is on ${this.name}`,
      unaffected: 'Nothing was changed.',
    }
  }

  #indexOf(client: string): number | undefined {
    const { clients, node } = this.#open
    const index = clients.findLastIndex((c) => c.name === client)
    return index >= 0 && node.client(index)?.state === 'active' ? index : undefined
  }

  #admission(client: string, reservation: number): Result<AdmissionInput> {
    const found = this.scenario.clients.find((c) => c.name === client)
    if (!found || found.outside || !this.#present.has(client)) return fail(this.#unknown(client))
    const bad = checkTokens('The reservation', reservation)
    if (bad) return fail(bad)
    const { period_ms, local_iops, fluid_admission } = this.scenario
    const periodNs = period_ms * NS_PER_MS
    const omega = this.#open.node.monitor?.omega ?? profiledTokens(this.#profile, periodNs)
    // A crashed client keeps its reservation until it is dropped.
    const { node, clients } = this.#open
    const admitted = node.monitor
      ? clients.flatMap((c, i) => (c.name === client ? [] : [node.client(i)?.promised ?? 0]))
      : [...this.#present].flatMap(([name, p]) => (name === client ? [] : [p.reservation]))
    const capacity = { globalIops: (omega * 1e9) / periodNs, localIops: local_iops }
    return ok({ admitted, reservation, capacity, periodNs, fluid: fluid_admission })
  }

  get #profile(): { globalIops: number; localIops: number } {
    return { globalIops: this.scenario.global_iops, localIops: this.scenario.local_iops }
  }

  #catchUp(): void {
    const { node, fromNs } = this.#open
    node.runUntil(this.#sim.now - fromNs)
  }

  #begin(): void {
    const { scenario } = this
    const first = this.#first()
    const made = NodeSimulation.create({
      ...NODE_DEFAULTS,
      clients: first.map(setupOf),
      mode: this.#variant === 'bare' ? 'bare' : 'haechi',
      settings: settingsOf(scenario, this.#variant, this.#preset),
      profile: this.#profile,
      seed: this.#seed,
      slots: 2 * scenario.clients.length,
      samples: { everyNs: SAMPLE_NS, rows: SAMPLES },
      keptPeriods: PERIODS_MOST,
    })
    invariant(made.ok, 'the section of a data node was checked')
    const run: OpenRun = {
      fromNs: this.#sim.now,
      variant: this.#variant,
      preset: this.#preset,
      node: made.value,
      clients: [...first],
      marks: [],
    }
    this.#runs.push(run)
    if (this.#runs.length > RUNS_MOST) this.#runs.shift()
    if (this.#capacity !== scenario.global_iops) run.node.setCapacity(this.#capacity)
    if (this.#runs.length > 1) this.#mark('run', '', `restarts as ${this.#variant}, ${this.#preset}`)
    // Clients that no longer fit the profile are refused by name.
    for (const c of this.#scenarioOfPresent()) if (!first.some((f) => f.name === c.name)) this.#join(c)
  }

  #scenarioOfPresent(): HaechiClientScenario[] {
    return this.scenario.clients.flatMap((c) => {
      const promise = this.#present.get(c.name)
      return promise ? [{ ...c, ...promise }] : []
    })
  }

  /** Clients present at the start of a run; their reservations apply from its first period. */
  #first(): HaechiClientScenario[] {
    const admitted: number[] = []
    const input = {
      admitted,
      capacity: this.#profile,
      fluid: this.scenario.fluid_admission,
      periodNs: this.scenario.period_ms * NS_PER_MS,
    }
    return this.#scenarioOfPresent().filter(({ reservation, outside }) => {
      if (outside || this.#variant === 'bare') return true
      if (admissionRefusal({ ...input, reservation })) return false
      admitted.push(reservation)
      return true
    })
  }

  #plan(): void {
    const at = (seconds: number, act: () => void): void => {
      this.#sim.at(sToNs(seconds), () => {
        this.#catchUp()
        act()
      })
    }
    for (const c of this.scenario.clients) {
      if (c.start_s > 0) {
        at(c.start_s, () => {
          this.#present.set(c.name, c)
          this.#join(c)
        })
      }
      if (c.leave_s !== undefined) at(c.leave_s, () => this.#end(c.name, 'leaves'))
      if (c.crash_s !== undefined) at(c.crash_s, () => this.#end(c.name, 'crashes'))
    }
    for (const { at_s, iops } of this.scenario.capacity) {
      at(at_s, () => {
        const percent = Math.round((iops / this.scenario.global_iops - 1) * 100)
        this.#capacity = iops
        this.#open.node.setCapacity(iops)
        const text =
          percent === 0 ? 'capacity restored' : `capacity ${percent < 0 ? 'falls' : 'rises'} ${Math.abs(percent)} %`
        this.#mark('capacity', '', text)
      })
    }
    for (const { at_s, client, reservation, limit } of this.scenario.changes) {
      at(at_s, () => {
        const changed = this.reserve(client, reservation, limit)
        if (!changed.ok) this.#mark('refused', client, `${changed.error.what}: ${changed.error.why ?? ''}`)
      })
    }
  }

  #join(c: HaechiClientScenario): void {
    const run = this.#open
    const joined = run.node.join(setupOf(c))
    if (joined.ok) {
      run.clients[joined.value] = c
      return
    }
    this.#present.delete(c.name)
    this.#mark(
      'refused',
      c.name,
      `${joined.error.what}${joined.error.why === undefined ? '' : `: ${joined.error.why}`}`,
    )
  }

  #end(name: string, how: 'leaves' | 'crashes'): void {
    const index = this.#indexOf(name)
    this.#present.delete(name)
    if (index === undefined) return
    const { node } = this.#open
    if (how === 'leaves') node.leave(index)
    else node.crash(index)
    this.#mark('client', name, how)
  }

  #mark(kind: DataNodeMark['kind'], client: string, text: string): void {
    const { marks, fromNs } = this.#open
    marks.push({ atNs: this.#sim.now - fromNs, kind, client, text })
  }
}

function settingsOf(s: DataNodeScenario, variant: HaechiVariant, preset: HaechiPreset): HaechiSettings {
  const base = PRESET_SETTINGS[preset]
  const rules = variant === 'basic' ? BASIC : base
  const { decay = rules.decay, conversion = rules.conversion } = s
  const { enabled, rule, history, increment } = s.estimator
  const periodNs = s.period_ms * NS_PER_MS
  const estimator: EstimatorSettings = {
    ...base.estimator,
    enabled: enabled ?? base.estimator.enabled,
    rule: rule ?? base.estimator.rule,
    history: history ?? base.estimator.history,
    increment: increment ?? base.estimator.increment,
    slack: s.slack,
  }
  return {
    ...base,
    name: preset,
    decay,
    conversion,
    estimator,
    periodNs,
    batch: s.batch,
    fluidAdmission: s.fluid_admission,
  }
}

function setupOf(c: HaechiClientScenario): ClientSetup {
  const { name, reservation, limit, outside, records } = c
  return {
    name,
    reservation: outside ? 0 : reservation,
    limit,
    isOutside: outside,
    workload: workloadOf(c),
    ...(records && { records: { records: records.count, keys: records.keys, reads: records.reads } }),
  }
}

function workloadOf({ workload: w }: HaechiClientScenario): Workload {
  switch (w.kind) {
    case 'burst':
    case 'constant':
      return { kind: w.kind, perPeriod: w.per_period, carry: w.carry }
    case 'poisson':
      return { kind: 'poisson', perSecond: w.per_s }
    case 'on-off':
      return {
        kind: 'on-off',
        perSecond: w.per_s,
        onNs: Math.round(w.on_ms * NS_PER_MS),
        offNs: Math.round(w.off_ms * NS_PER_MS),
      }
    case 'backlogged':
      return { kind: 'backlogged' }
  }
}

/** What controls a run, in order of its instants: the regimes of its OSTs, metadata, and the rules of the variant. */
import type { EmulatedCluster } from '../emulator/cluster.ts'
import { MetadataControl } from './control-metadata.ts'
import { type Regime, regimesOf } from './control-regime.ts'
import { rulesOf, type TimedRule } from './control-rules.ts'
import { JobQueue } from './control-queue.ts'
import { ServerControl } from './control-server.ts'
import { ownWriter, planWriter } from './control-writer.ts'
import type { Fences } from '../control/fences.ts'
import type { Variant } from './variant.ts'

export interface ModelOptions {
  readonly thinning: number
  /** Hears what a server refuses. */
  readonly remark: (text: string) => void
  /** Writes rules by the text of plans, as the console does, also where it could do without. @default false */
  readonly asText?: boolean | undefined
  /** What a controller may do at most. @default  those of a model */
  readonly fences?: Fences | undefined
}

export class ModelControl {
  readonly #cluster: EmulatedCluster
  readonly #regimes: readonly Regime[]
  readonly #jobs: JobQueue
  readonly #remark: (text: string) => void
  readonly #rules: TimedRule[]
  readonly #metadata: MetadataControl | undefined
  readonly #writer: typeof ownWriter
  #at = -1
  #servers: readonly ServerControl[] = []
  #periodNs = Infinity

  constructor(cluster: EmulatedCluster, variant: Variant, { thinning, remark, asText = false, fences }: ModelOptions) {
    this.#cluster = cluster
    this.#remark = remark
    this.#regimes = regimesOf(cluster.scenario, variant, fences)
    this.#jobs = new JobQueue(cluster, thinning)
    this.#rules = rulesOf(cluster, variant).sort((a, b) => a.atNs - b.atNs)
    this.#metadata = MetadataControl.of(cluster, this.#jobs, { thinning, remark })
    // Rules that people write on the way have places that plans respect.
    this.#writer = asText || variant.rules.some((r) => r.service === 'ost_io') ? planWriter : ownWriter
    this.#begin(0)
    this.#writeRules(0)
  }

  /** Instant at which it acts next; Infinity when it does not any more. */
  get nextNs(): number {
    return Math.min(
      this.#periodNs,
      this.#beginsNs,
      this.#rules[0]?.atNs ?? Infinity,
      this.#metadata?.nextNs ?? Infinity,
    )
  }

  /** Does what is due now. */
  step(nowNs: number): void {
    if (nowNs >= Math.min(this.#periodNs, this.#metadata?.nextNs ?? Infinity)) this.#jobs.look(nowNs)
    if (this.#metadata && nowNs >= this.#metadata.nextNs) this.#metadata.step(nowNs)
    if (nowNs >= this.#periodNs) {
      for (const s of this.#servers) s.step(nowNs)
      this.#periodNs += this.#regime.periodNs
    }
    if (nowNs >= this.#beginsNs) this.#begin(nowNs)
    this.#writeRules(nowNs)
  }

  /** Tokens lent (+) or borrowed (-) by job now; undefined without a ledger. */
  records(): ReadonlyMap<string, number> | undefined {
    if (!this.#servers.some((s) => s.keepsRecords)) return undefined
    const sums = new Map<string, number>()
    for (const s of this.#servers) for (const [id, n] of s.records()) sums.set(id, (sums.get(id) ?? 0) + n)
    return sums
  }

  get #regime(): Regime {
    return this.#regimes[this.#at] as Regime
  }

  /** When the next regime begins. */
  get #beginsNs(): number {
    return this.#regimes[this.#at + 1]?.fromNs ?? Infinity
  }

  #begin(nowNs: number): void {
    this.#at++
    const { controller, periodNs } = this.#regime
    this.#servers = this.#cluster.oss.map(
      (o) =>
        new ServerControl(o, { regime: this.#regime, nowNs, jobs: this.#jobs, remark: this.#remark }, this.#writer),
    )
    this.#periodNs = controller === 'none' ? Infinity : nowNs + periodNs
    if (this.#at > 0 && controller === 'none') for (const s of this.#servers) s.withdraw()
  }

  #writeRules(nowNs: number): void {
    for (let r = this.#rules[0]; r && r.atNs <= nowNs; r = this.#rules[0]) {
      this.#rules.shift()
      const refused = r.write()
      if (refused !== undefined) this.#remark(refused)
    }
  }
}

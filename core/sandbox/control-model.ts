/** Control of a run over time: the regimes of its OSTs, metadata, and the rules of the variant. */
import type { EmulatedCluster } from '../emulator/cluster.ts'
import { MetadataControl } from './control-metadata.ts'
import { type Regime, regimesOf } from './control-regime.ts'
import { JobQueue } from './control-queue.ts'
import { ServerControl } from './control-server.ts'
import type { Fences } from '../control/fences.ts'
import { sToNs } from '../base/units.ts'
import type { EmulatedService } from '../emulator/ptlrpc-service.ts'
import type { Rpc } from '../emulator/rpc.ts'
import type { Variant, VariantRule } from './variant.ts'

/** Rule to write on one server. */
interface TimedRule {
  readonly atNs: number
  /** Writes it; returns the server's refusal as text. */
  readonly write: () => string | undefined
}

/**
 * Rules of a variant in their order, server by server. They are written from its `onS` on; those of the scenario apply
 * from its start.
 */
function rulesOf(cluster: EmulatedCluster, { rules, onS }: Variant): TimedRule[] {
  return rules.flatMap(({ service, line }) => {
    const servers = servicesOf(cluster, service)
    if (servers.length === 0) return [{ atNs: 0, write: () => `no server runs ${service}: "${line}" is not written` }]
    return servers.map(({ host, of }) => ({
      atNs: sToNs(onS),
      write: () => {
        const written = of.nrs.writeRule(line)
        of.kick()
        return written.ok ? undefined : `${host} (${service}) refused "${line}": ${written.error}`
      },
    }))
  })
}

function servicesOf(
  { oss, mds }: EmulatedCluster,
  service: VariantRule['service'],
): { readonly host: string; readonly of: EmulatedService<Rpc> }[] {
  if (service === 'ost_io') return oss.map((o) => ({ host: o.name, of: o.io }))
  return mds.map((m) => ({ host: m.name, of: service === 'mdt' ? m.mdt : m.readpage }))
}

export interface ModelOptions {
  readonly thinning: number
  /** Receives refusals of servers. */
  readonly remark: (text: string) => void
  /** Writes rules by the text of plans, as the console does, even where not necessary. @default false */
  readonly asText?: boolean | undefined
  /** Limits of a controller. @default  those of a model */
  readonly fences?: Fences | undefined
}

export class ModelControl {
  readonly #cluster: EmulatedCluster
  readonly #regimes: readonly Regime[]
  readonly #jobs: JobQueue
  readonly #remark: (text: string) => void
  readonly #rules: TimedRule[]
  readonly #metadata: MetadataControl | undefined
  readonly #asText: boolean
  #at = -1
  #servers: readonly ServerControl[] = []
  /** End of the current period; Infinity without a controller. */
  #nextPeriodNs = Infinity

  constructor(cluster: EmulatedCluster, variant: Variant, { thinning, remark, asText = false, fences }: ModelOptions) {
    this.#cluster = cluster
    this.#remark = remark
    this.#regimes = regimesOf(cluster.scenario, variant, fences)
    this.#jobs = new JobQueue(cluster, thinning)
    this.#rules = rulesOf(cluster, variant).sort((a, b) => a.atNs - b.atNs)
    this.#metadata = MetadataControl.of(cluster, this.#jobs, { thinning, remark })
    // Rules that users write meanwhile have ranks that plans respect.
    this.#asText = asText || variant.rules.some((r) => r.service === 'ost_io')
    this.#begin(0)
    this.#writeRules(0)
  }

  /** Time of its next action; Infinity when there are no more. */
  get nextNs(): number {
    return Math.min(
      this.#nextPeriodNs,
      this.#beginsNs,
      this.#rules[0]?.atNs ?? Infinity,
      this.#metadata?.nextNs ?? Infinity,
    )
  }

  /** Performs the actions that are due. */
  step(nowNs: number): void {
    if (nowNs >= Math.min(this.#nextPeriodNs, this.#metadata?.nextNs ?? Infinity)) this.#jobs.look(nowNs)
    if (this.#metadata && nowNs >= this.#metadata.nextNs) this.#metadata.step(nowNs)
    if (nowNs >= this.#nextPeriodNs) {
      for (const s of this.#servers) s.step(nowNs)
      this.#nextPeriodNs += this.#regime.periodNs
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

  /** Start of the next regime. */
  get #beginsNs(): number {
    return this.#regimes[this.#at + 1]?.fromNs ?? Infinity
  }

  #begin(nowNs: number): void {
    this.#at++
    const { controller, periodNs } = this.#regime
    const parts = { regime: this.#regime, nowNs, jobs: this.#jobs, remark: this.#remark, asText: this.#asText }
    this.#servers = this.#cluster.oss.map((oss) => new ServerControl(oss, parts))
    this.#nextPeriodNs = controller === 'none' ? Infinity : nowNs + periodNs
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

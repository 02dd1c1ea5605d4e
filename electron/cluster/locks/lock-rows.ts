/**
 * Rows of a lock manager that reports every step: one per resource and one per lock server for each second of its clock, and
 * the longest convoys with their messages.
 */
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { ResourceId, ServerId } from '#core/seqdlm/messages.ts'
import { LOCK_MODES } from '#core/seqdlm/modes.ts'
import type { LockPeriod, LockPeriodCounts, LockWorld, TracedConvoy } from '#core/seqdlm/trace/trace.ts'
import { planeRow, type PlaneRow } from '#core/series/plane-tables.ts'
import type { ClusterSource } from '../../base/connection.ts'
import type { PlaneCollector, PlaneWriter } from '../state/plane-collector.ts'
import { bounded, resourceName } from './condition-text.ts'
import { earlyOf, queueOver, resourceFrame } from './resource-frame.ts'

/** Convoys that wait to be kept: one a sample, the longest first, so that no sample is late. */
const PENDING_MAX = 20
/** Time shown before and after a convoy: a share of its length, at least so long; and the longest range, ns. */
const MARGIN = 0.2
const MARGIN_LEAST_NS = NS_PER_MS
const SPAN_MAX_NS = 10 * NS_PER_S
const LIVES_MAX = 1_000
const MESSAGES_MAX = 2_000
const QUEUE_BINS = 300
/** Cached names of resources. */
const NAMES_MAX = 10_000

const msOf = (ns: number | undefined): number => (ns === undefined ? NaN : ns / NS_PER_MS)

/** Columns that resources and servers share. */
function countsOf(c: LockPeriodCounts, seconds: number): Record<string, number> {
  return {
    grants_per_s: c.grants / seconds,
    conflicts_per_s: c.conflicts / seconds,
    revocations_per_s: c.revocations / seconds,
    conversions_per_s: c.conversions / seconds,
    holders: c.held,
    waiters: c.mostWaiting,
    wait_mean_ms: msOf(c.waitMeanNs),
    wait_p95_ms: msOf(c.waitP95Ns),
    wait_longest_ms: msOf(c.waitLongestNs),
    convoy_share: c.convoyNs / NS_PER_S / seconds,
  }
}

interface Named {
  readonly name: string
  readonly server: string
}

export class LockCollector implements PlaneCollector {
  readonly #world: LockWorld
  readonly #source: Pick<ClusterSource, 'nowNs' | 'toUnixMs'>
  readonly #writer: PlaneWriter
  readonly #names = new Map<ResourceId, Named>()
  readonly #servers = new Map<ServerId, string>()
  #pending: TracedConvoy[] = []

  constructor(world: LockWorld, source: Pick<ClusterSource, 'nowNs' | 'toUnixMs'>, writer: PlaneWriter) {
    this.#world = world
    this.#source = source
    this.#writer = writer
  }

  look(atNs: number): void {
    const { trace, reading } = this.#world
    // A second is complete only if the source has run past its end, and was read up to it.
    const seenNs = Math.min(atNs, reading?.seenNs ?? this.#source.nowNs())
    for (const period of trace.takePeriods(seenNs)) {
      // A period with lost events is a gap, like one without a sample.
      if (reading?.isComplete(period.fromNs, period.toNs) !== false) this.#record(period)
    }
    const convoys = trace.takeConvoys(seenNs).filter((c) => this.#wants(c))
    if (convoys.length > 0) {
      const all = [...this.#pending, ...convoys]
      this.#pending = all.sort((a, b) => b.toNs - b.fromNs - (a.toNs - a.fromNs)).slice(0, PENDING_MAX)
    }
    const next = this.#pending.shift()
    if (next && this.#wants(next)) this.#keep(next, seenNs)
  }

  #record({ fromNs, toNs, resources, servers }: LockPeriod): void {
    const atMs = this.#source.toUnixMs(fromNs)
    const seconds = (toNs - fromNs) / NS_PER_S
    const ofResources = resources.map((r): PlaneRow => {
      const { name, server } = this.#named(r.resource)
      if (!this.#servers.has(r.server)) this.#servers.set(r.server, server)
      return planeRow('lock_resources', { name, place: server, jobId: '' }, countsOf(r, seconds))
    })
    const place = bounded(this.#world.managerName)
    const ofServers = servers.map((s): PlaneRow => {
      const values = countsOf(s, seconds)
      values['resources'] = s.resources
      values['cancels_per_s'] = s.cancels / seconds
      LOCK_MODES.forEach((mode, i) => (values[`held_${mode.toLowerCase()}`] = s.heldByMode[i] ?? NaN))
      const name = this.#servers.get(s.server) ?? `server ${s.server}`
      return planeRow('lock_servers', { name, place, jobId: '' }, values)
    })
    this.#writer.recordPlane('lock_resources', atMs, ofResources)
    this.#writer.recordPlane('lock_servers', atMs, ofServers)
  }

  #named(resource: ResourceId): Named {
    const known = this.#names.get(resource)
    if (known) return known
    if (this.#names.size >= NAMES_MAX) this.#names.clear()
    const about = this.#world.describe(resource)
    const named = { name: resourceName(this.#world, resource), server: bounded(about?.server ?? '') }
    if (about?.isProvisional !== true) this.#names.set(resource, named)
    return named
  }

  #wants({ fromNs, toNs }: TracedConvoy): boolean {
    return this.#writer.wantsConvoy(this.#source.toUnixMs(fromNs), (toNs - fromNs) / NS_PER_MS)
  }

  #keep({ resource, fromNs, toNs, waiting }: TracedConvoy, seenNs: number): void {
    const toMs = (ns: number): number => this.#source.toUnixMs(ns)
    const marginNs = Math.round(Math.max(MARGIN_LEAST_NS, MARGIN * (toNs - fromNs)))
    const endNs = Math.min(seenNs, toNs + marginNs)
    const spanNs = Math.min(SPAN_MAX_NS, endNs - Math.max(0, fromNs - marginNs))
    const counts = this.#world.trace.resources(endNs, spanNs).find((c) => c.resource === resource)
    const range = { endNs, spanNs, livesMax: LIVES_MAX, messagesMax: MESSAGES_MAX }
    const frame = resourceFrame(this.#world, resource, range, toMs, {
      isFound: true,
      queue: queueOver(this.#world, resource, [endNs - spanNs, endNs], QUEUE_BINS, toMs),
      early: earlyOf(counts),
    })
    if (!frame) return
    const { name, server } = this.#named(resource)
    this.#writer.keepConvoy({ resource: name, server, fromMs: toMs(fromNs), toMs: toMs(toNs), waiting }, frame)
  }
}

/**
 * Jobs that share clients with a job that waits at its rule: its waiting RPCs occupy the clients' slots (usually 8 per
 * target), and with more writers than slots the others wait with it (measured part 2, 8). Clients are known from the
 * batch system.
 */
import type { JobRegistry } from './state/job-registry.ts'
import type { EventLog } from './state/event-log.ts'
import { jobColumn, type Recent } from './state/recent.ts'

/** Interval of the checks, ms on the source's clock. */
const LOOK_MS = 5000
/** Part of its time, over the last samples, from which a job counts as waiting at its limit. */
const WAITS = 0.5
const SAMPLES = 10
/** Maximum listed jobs of the same clients. */
const NAMED = 3

export interface SharedSlots {
  readonly jobId: string
  /** Jobs that may be slowed. */
  readonly neighbours: readonly string[]
  /** Nodes that they share with it. */
  readonly hosts: number
}

const name = (ids: readonly string[]): string =>
  ids.length <= NAMED ? ids.join(', ') : `${ids.slice(0, NAMED).join(', ')} and ${ids.length - NAMED} more`

export class SlotWatch {
  readonly #events: EventLog
  #atMs = -Infinity
  #shared: readonly SharedSlots[] = []
  readonly #reported = new Map<string, string>()

  constructor(events: EventLog) {
    this.#events = events
  }

  /** Shared slots as of the last check, a few seconds ago at most. */
  get shared(): readonly SharedSlots[] {
    return this.#shared
  }

  /** True if a job waited at its rule's limit for most of the last samples. */
  static waits(recent: Recent, jobId: string): boolean {
    const { jobs } = recent.raw
    return jobs.mean(jobId, jobColumn('throttled'), jobs.newest, SAMPLES) >= WAITS
  }

  look(atMs: number, recent: Recent, jobs: JobRegistry): void {
    if (atMs - this.#atMs < LOOK_MS && atMs >= this.#atMs) return
    this.#atMs = atMs
    const onHost = new Map<string, string[]>()
    const rpcs = jobColumn('rpcs')
    const { raw } = recent
    for (const { jobId, hosts } of jobs.all) {
      if (hosts.length === 0 || !(raw.jobs.mean(jobId, rpcs, raw.jobs.newest, SAMPLES) > 0)) continue
      for (const h of hosts) {
        const list = onHost.get(h)
        if (list) list.push(jobId)
        else onHost.set(h, [jobId])
      }
    }
    const shared: SharedSlots[] = []
    for (const { jobId, hosts } of jobs.all) {
      if (hosts.length === 0 || !SlotWatch.waits(recent, jobId)) continue
      const common = hosts.filter((h) => (onHost.get(h)?.length ?? 0) > 1 && onHost.get(h)?.includes(jobId))
      const neighbours = [...new Set(common.flatMap((h) => onHost.get(h) ?? []))].filter((id) => id !== jobId).sort()
      if (neighbours.length > 0) shared.push({ jobId, neighbours, hosts: common.length })
    }
    this.#shared = shared
    this.#report(atMs)
  }

  #report(atMs: number): void {
    const now = new Set(this.#shared.map((s) => s.jobId))
    for (const id of this.#reported.keys()) if (!now.has(id)) this.#reported.delete(id)
    for (const { jobId, neighbours, hosts } of this.#shared) {
      const text = `${jobId} waits at its rule and shares ${hosts === 1 ? '1 node' : `${hosts} nodes`} with ${name(neighbours)}: ${neighbours.length === 1 ? 'it' : 'they'} may be slowed`
      if (this.#reported.has(jobId)) continue
      this.#reported.set(jobId, text)
      this.#events.add({ atMs, kind: 'alarm', level: 'watch', subject: 'Slots', text, where: '' })
    }
  }
}

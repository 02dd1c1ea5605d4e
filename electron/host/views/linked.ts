/**
 * Objects related to the selection at a sample. Kinds are connected through jobs: first the jobs of the selection are
 * found, then their targets, rules, users and locks.
 */
import { LINKED_MAX, type LinkedFrame, type LinkedKind } from '#core/api/linked.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import { jobColumn, shareColumn, shareName } from '../../cluster/state/recent.ts'
import type { JobRead, ClusterView } from '../../cluster/cluster-view.ts'
import { liveOf, rateSamples, resolvePosition } from '../position.ts'
import { ruleLookup, rulesAt, type RuleLookup } from './rule-lookup.ts'

export interface LinkedQuery {
  readonly at: number | null
  readonly windowMs: number
  readonly kind: LinkedKind
  readonly id: string
}

/** Most resources examined for their lock holders, the most contended first. */
const RESOURCES = 120
/** Most locks examined per resource. */
const LIVES = 64
const LOCKS_NS = NS_PER_S
const RPCS = shareColumn('rpcs')
const MDOPS = jobColumn('mdops')

interface Client {
  readonly name: string
  readonly jobId: string
}
interface Locked {
  readonly key: string
  readonly clients: readonly Client[]
}
/** Clients of locks and data nodes, from rows of the past instead of a source. */
export interface RecordedLinks {
  readonly clients: readonly Client[]
  readonly locks: readonly Locked[]
}

type Names = Record<LinkedKind, Set<string>>

/** One sample of a source, with queries for related objects. */
class Links {
  readonly #viewed: ClusterView
  readonly #sample: number
  readonly #atMs: number
  readonly #spanSamples: number
  readonly #rules: RuleLookup
  readonly #lines: ReturnType<typeof rulesAt>
  readonly #recorded: RecordedLinks | undefined
  /** OSTs and MDTs, each with its server. */
  readonly #places: ClusterView['targets']
  readonly #mdts: ReadonlySet<string>

  constructor(
    viewed: ClusterView,
    at: { readonly sample: number; readonly atMs: number },
    windowMs: number,
    recorded?: RecordedLinks,
  ) {
    const { sample, atMs } = at
    const mdts = viewed.metadataTargets ?? []
    this.#places = [...viewed.targets, ...mdts]
    this.#mdts = new Set(mdts.map(({ target }) => target))
    this.#recorded = recorded
    this.#viewed = viewed
    this.#sample = sample
    this.#atMs = atMs
    const { shares } = viewed.recent
    this.#spanSamples = Math.max(
      1,
      Math.min(sample, sample - shares.sampleAt(atMs - windowMs) + 1, rateSamples(viewed) * 60),
    )
    this.#lines = rulesAt(viewed, sample)
    this.#rules = ruleLookup(this.#lines)
  }

  get jobs(): JobRead[] {
    const known = this.#viewed.jobs.known?.(this.#atMs).jobs ?? [...this.#viewed.jobs.all]
    return known.filter((job) => job.firstSeenMs <= this.#atMs)
  }
  /** True if a job did I/O on a target recently; if that is not kept, if it was ever seen there. */
  touches(job: JobRead, target: string): boolean {
    if (!job.targets.has(target)) return false
    const { shares, raw } = this.#viewed.recent
    const of = [this.#sample, this.#spanSamples] as const
    // MDTs have no per-target shares: metadata operations of a job count for every MDT where it was ever seen.
    const mean = this.#mdts.has(target)
      ? raw.jobs.mean(job.jobId, MDOPS, ...of)
      : shares.mean(shareName(job.jobId, target), RPCS, ...of)
    return Number.isNaN(mean) || mean > 0
  }
  targetsOf(job: JobRead): string[] {
    return this.#places.flatMap(({ target }) => (this.touches(job, target) ? [target] : []))
  }
  targetsOn(node: string): string[] {
    return this.#places.flatMap((t) => (t.node === node ? [t.target] : []))
  }
  nodeOf(target: string): string | undefined {
    return this.#places.find((t) => t.target === target)?.node
  }
  ruleOf(job: JobRead): string | undefined {
    return this.#rules.of(job.jobId)?.name
  }
  hasRule(name: string): boolean {
    return [...this.#lines.values()].some((lines) => lines.some((line) => line.name === name))
  }

  /** Clients of the data nodes, each with its job. */
  get clients(): readonly Client[] {
    if (this.#recorded) return this.#recorded.clients
    const live = liveOf(this.#viewed)
    if (!live) return []
    const atNs = Math.round((this.#atMs - live.source.toUnixMs(0)) * NS_PER_MS)
    return live.dataNodes.flatMap((node) =>
      (node.run(atNs)?.clients ?? []).flatMap((c) => (c ? [{ name: c.name, jobId: c.job }] : [])),
    )
  }
  /** Resources with locks held or requested in the last second, and the jobs of those clients. */
  get locks(): readonly Locked[] {
    if (this.#recorded) return this.#recorded.locks
    const live = liveOf(this.#viewed)
    if (!live?.locks) return []
    const { world } = live.locks
    const atNs = Math.round((this.#atMs - live.source.toUnixMs(0)) * NS_PER_MS)
    if (atNs < world.trace.countedSince) return []
    const span = Math.min(LOCKS_NS, atNs)
    return world.trace
      .resources(atNs, span)
      .slice(0, RESOURCES)
      .map(({ resource }) => ({
        key: String(resource),
        clients: [
          ...new Set(
            world.trace.lives(resource, Math.max(0, atNs - span), atNs, LIVES).lives.map((life) => life.client),
          ),
        ].map((client) => world.client(client)),
      }))
  }
}

interface Chosen {
  readonly jobs: readonly JobRead[]
  /** Ids of those jobs, and of jobs known only from their locks or from a data node. */
  readonly ids: ReadonlySet<string>
  readonly isHere: boolean
}

/** Jobs of the selection, and whether the selected object exists. */
function chosenOf(links: Links, kind: LinkedKind, id: string): Chosen {
  const where = (test: (job: JobRead) => boolean): JobRead[] => links.jobs.filter(test)
  const clients = (): Client[] => [...links.clients, ...links.locks.flatMap((lock) => lock.clients)]
  const of = (jobs: readonly JobRead[], isHere: boolean): Chosen => {
    return { jobs, ids: new Set(jobs.map((job) => job.jobId)), isHere }
  }
  const named = (found: readonly Client[], isHere: boolean): Chosen => {
    const ids = new Set(found.map((client) => client.jobId).filter((jobId) => jobId !== ''))
    return { jobs: where((job) => ids.has(job.jobId)), ids, isHere }
  }
  switch (kind) {
    case 'job': {
      const jobs = where((job) => job.jobId === id)
      if (jobs.length > 0) return of(jobs, true)
      const ofJob = clients().filter((client) => client.jobId === id)
      return named(ofJob, ofJob.length > 0)
    }
    case 'user': {
      const jobs = where((job) => job.user === id)
      return of(jobs, jobs.length > 0)
    }
    case 'target':
      return of(
        where((job) => links.touches(job, id)),
        links.nodeOf(id) !== undefined,
      )
    case 'node': {
      const on = links.targetsOn(id)
      return of(
        where((job) => on.some((target) => links.touches(job, target))),
        on.length > 0,
      )
    }
    case 'rule':
      return of(
        where((job) => links.ruleOf(job) === id),
        links.hasRule(id),
      )
    case 'client': {
      const found = clients().filter((client) => client.name === id)
      return named(found, found.length > 0)
    }
    case 'resource': {
      const found = links.locks.find((lock) => lock.key === id)
      return named(found?.clients ?? [], found !== undefined)
    }
  }
}

function namesOf(links: Links, kind: LinkedKind, id: string, { jobs, ids: all }: Chosen): Names {
  const names: Names = {
    job: new Set(),
    target: new Set(),
    rule: new Set(),
    user: new Set(),
    node: new Set(),
    client: new Set(),
    resource: new Set(),
  }
  for (const jobId of all) names.job.add(jobId)
  for (const job of jobs.slice(0, LINKED_MAX)) {
    if (job.user !== '') names.user.add(job.user)
    const rule = links.ruleOf(job)
    if (rule !== undefined) names.rule.add(rule)
    if (kind !== 'target' && kind !== 'node') for (const target of links.targetsOf(job)) names.target.add(target)
  }
  // For a node only its own targets are marked, not all other targets of its jobs.
  if (kind === 'node') for (const target of links.targetsOn(id)) names.target.add(target)
  names[kind].add(id)
  for (const target of names.target) {
    const node = links.nodeOf(target)
    if (node !== undefined) names.node.add(node)
  }
  for (const client of links.clients) if (all.has(client.jobId)) names.client.add(client.name)
  for (const { key, clients } of links.locks) {
    const ofJob = clients.filter((client) => all.has(client.jobId))
    for (const client of ofJob) names.client.add(client.name)
    if (ofJob.length > 0 && kind !== 'resource') names.resource.add(key)
  }
  return names
}

/** @param recorded  for a recorded past: clients from kept convoys and rows of tokens. */
export function linkedFrame(
  viewed: ClusterView,
  query: LinkedQuery,
  seq: number,
  recorded?: RecordedLinks,
): LinkedFrame {
  const { sample, atMs } = resolvePosition(viewed, query.at)
  const { kind, id } = query
  const head = { seq, sample, atMs, kind, id }
  if (sample === 0 || atMs === null) {
    const none = { job: [], target: [], rule: [], user: [], node: [], client: [], resource: [] }
    return { ...head, ...none, isHere: false, jobs: 0 }
  }
  if (kind === 'job' && viewed.jobs.find(id)) viewed.jobs.jobColors.colors([id])
  const links = new Links(viewed, { sample, atMs }, query.windowMs, recorded)
  const chosen = chosenOf(links, kind, id)
  const names = namesOf(links, kind, id, chosen)
  const list = (of: LinkedKind): string[] => [...names[of]].slice(0, LINKED_MAX)
  return {
    ...head,
    isHere: chosen.isHere,
    jobs: chosen.ids.size,
    job: list('job'),
    target: list('target'),
    rule: list('rule'),
    user: list('user'),
    node: list('node'),
    client: list('client'),
    resource: list('resource'),
  }
}

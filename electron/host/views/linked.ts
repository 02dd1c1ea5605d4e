/**
 * What hangs together with the selection at a sample. Jobs tie the kinds to each other: of whatever is chosen its jobs are found
 * first, then where these run, under which rules, as whose, and on which locks.
 */
import { LINKED_MAX, type LinkedFrame, type LinkedKind } from '#core/api/linked.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import { shareColumn, shareName } from '../../cluster/recent.ts'
import type { JobRead, Viewed } from '../../cluster/viewed.ts'
import { liveOf, rateSamples, stand } from './position.ts'
import { ruleLookup, rulesAt, type RuleLookup } from './rule-lookup.ts'

export interface LinkedQuery {
  readonly at: number | null
  readonly windowMs: number
  readonly kind: LinkedKind
  readonly id: string
}

/** Resources that are looked into for who locks them, the most contended first; and lives of each. */
const RESOURCES = 120
const LIVES = 64
const LOCKS_NS = NS_PER_S
const RPCS = shareColumn('rpcs')

type Names = Record<LinkedKind, Set<string>>

/** One sample of a source, asked for what belongs together. */
class Links {
  readonly #viewed: Viewed
  readonly #sample: number
  readonly #atMs: number
  readonly #spanSamples: number
  readonly #rules: RuleLookup
  readonly #lines: ReturnType<typeof rulesAt>

  constructor(viewed: Viewed, sample: number, atMs: number, windowMs: number) {
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
  /** Whether a job did I/O on a target of late; where that is not kept, whether it was ever seen there. */
  touches(job: JobRead, target: string): boolean {
    if (!job.targets.has(target)) return false
    const mean = this.#viewed.recent.shares.mean(shareName(job.jobId, target), RPCS, this.#sample, this.#spanSamples)
    return Number.isNaN(mean) || mean > 0
  }
  targetsOf(job: JobRead): string[] {
    return this.#viewed.targets.flatMap(({ target }) => (this.touches(job, target) ? [target] : []))
  }
  targetsOn(node: string): string[] {
    return this.#viewed.targets.flatMap((t) => (t.node === node ? [t.target] : []))
  }
  nodeOf(target: string): string | undefined {
    return this.#viewed.targets.find((t) => t.target === target)?.node
  }
  ruleOf(job: JobRead): string | undefined {
    return this.#rules.of(job.jobId)?.name
  }
  hasRule(name: string): boolean {
    return [...this.#lines.values()].some((lines) => lines.some((line) => line.name === name))
  }

  /** Clients of the data nodes, each with its job. */
  get clients(): { readonly name: string; readonly jobId: string }[] {
    const live = liveOf(this.#viewed)
    if (!live) return []
    const atNs = Math.round((this.#atMs - live.source.toUnixMs(0)) * NS_PER_MS)
    return (live.source.dataNodes ?? []).flatMap((node) =>
      (node.run(atNs)?.clients ?? []).map(({ name, job }) => ({ name, jobId: job })),
    )
  }
  /** Resources whose locks were held or asked for in the last second, and by the clients of which jobs. */
  get locks(): { readonly key: string; readonly clients: { readonly name: string; readonly jobId: string }[] }[] {
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

/** The jobs of what is chosen, and whether it is there itself. */
function jobsOf(links: Links, kind: LinkedKind, id: string): { jobs: JobRead[]; isHere: boolean } {
  const where = (test: (job: JobRead) => boolean): JobRead[] => links.jobs.filter(test)
  const named = (ids: readonly string[]): JobRead[] => where((job) => ids.includes(job.jobId))
  switch (kind) {
    case 'job': {
      const jobs = where((job) => job.jobId === id)
      return { jobs, isHere: jobs.length > 0 }
    }
    case 'user': {
      const jobs = where((job) => job.user === id)
      return { jobs, isHere: jobs.length > 0 }
    }
    case 'target':
      return { jobs: where((job) => links.touches(job, id)), isHere: links.nodeOf(id) !== undefined }
    case 'node': {
      const on = links.targetsOn(id)
      return { jobs: where((job) => on.some((target) => links.touches(job, target))), isHere: on.length > 0 }
    }
    case 'rule':
      return { jobs: where((job) => links.ruleOf(job) === id), isHere: links.hasRule(id) }
    case 'client': {
      const all = [...links.clients, ...links.locks.flatMap((lock) => lock.clients)]
      const clients = all.filter((client) => client.name === id)
      return { jobs: named(clients.map((client) => client.jobId)), isHere: clients.length > 0 }
    }
    case 'resource': {
      const found = links.locks.find((lock) => lock.key === id)
      return { jobs: named((found?.clients ?? []).map((client) => client.jobId)), isHere: found !== undefined }
    }
  }
}

function namesOf(links: Links, kind: LinkedKind, id: string, jobs: readonly JobRead[]): Names {
  const names: Names = {
    ...{ job: new Set(), target: new Set(), rule: new Set(), user: new Set() },
    ...{ node: new Set(), client: new Set(), resource: new Set() },
  }
  const all = new Set(jobs.map((job) => job.jobId))
  for (const job of jobs.slice(0, LINKED_MAX)) {
    names.job.add(job.jobId)
    if (job.user !== '') names.user.add(job.user)
    const rule = links.ruleOf(job)
    if (rule !== undefined) names.rule.add(rule)
    if (kind !== 'target' && kind !== 'node') for (const target of links.targetsOf(job)) names.target.add(target)
  }
  // Of a place its own parts are marked, not all the other places its jobs are on, too.
  if (kind === 'node') for (const target of links.targetsOn(id)) names.target.add(target)
  names[kind].add(id)
  for (const target of names.target) {
    const node = links.nodeOf(target)
    if (node !== undefined) names.node.add(node)
  }
  for (const client of links.clients) if (all.has(client.jobId)) names.client.add(client.name)
  for (const { key, clients } of links.locks) {
    const own = clients.filter((client) => all.has(client.jobId))
    for (const client of own) names.client.add(client.name)
    if (own.length > 0 && kind !== 'resource') names.resource.add(key)
  }
  return names
}

export function linkedFrame(viewed: Viewed, query: LinkedQuery, seq: number): LinkedFrame {
  const { sample, atMs } = stand(viewed, query.at)
  const { kind, id } = query
  const head = { seq, sample, atMs, kind, id }
  if (sample === 0 || atMs === null) {
    const none = { job: [], target: [], rule: [], user: [], node: [], client: [], resource: [] }
    return { ...head, ...none, isHere: false, jobs: 0 }
  }
  const links = new Links(viewed, sample, atMs, query.windowMs)
  const { jobs, isHere } = jobsOf(links, kind, id)
  const names = namesOf(links, kind, id, jobs)
  const list = (of: LinkedKind): string[] => [...names[of]].slice(0, LINKED_MAX)
  return {
    ...head,
    isHere,
    jobs: jobs.length,
    ...{ job: list('job'), target: list('target'), rule: list('rule'), user: list('user') },
    ...{ node: list('node'), client: list('client'), resource: list('resource') },
  }
}

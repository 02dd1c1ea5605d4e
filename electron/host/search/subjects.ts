/** What a search goes through of the source on screen: its jobs, users, accounts, rules, targets and nodes. */
import type { Found } from '#core/api/search.ts'
import { SERVICE_NAMES } from '#core/api/rule-edits.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { Cheapest, matchCost } from '#core/search/match.ts'
import { jobColumn } from '../../cluster/recent.ts'
import { placeOf } from '../../cluster/service.ts'
import type { JobRead, Viewed } from '../../cluster/viewed.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { rulesIn } from '../rules/servers.ts'
import { rateSamples } from '../views/position.ts'
import { mergeRules } from '../views/rule-rows.ts'

export interface Search {
  readonly words: readonly string[]
  readonly limit: number
}
export interface Hits {
  readonly found: readonly Found[]
  readonly total: number
}

/** The best of one kind. */
export function hitsOf<T>(
  { words, limit }: Search,
  all: Iterable<T>,
  fields: (of: T) => readonly string[],
  make: (of: T) => Found,
): Hits {
  const best = new Cheapest<T>(limit)
  for (const one of all) {
    const cost = matchCost(words, fields(one))
    if (cost !== undefined) best.add(cost, one)
  }
  return { found: best.items.map(make), total: best.total }
}

/** Names are cut where the contract ends; nothing is found by what is beyond. */
const cut = (text: string): string => text.slice(0, 512)

function runningJob(viewed: Viewed, job: JobRead): Found {
  const rate = viewed.recent.raw.jobs.mean(job.jobId, jobColumn('rpcs'), viewed.sample, rateSamples(viewed))
  return {
    kind: 'job',
    ...{ id: cut(job.jobId), user: cut(job.user), account: cut(job.account), colour: job.colour },
    ...{ rpcs: Number.isFinite(rate) ? rate : 0, firstMs: job.firstSeenMs },
  }
}

/** Jobs of the source first; then those that it no longer has and the history does. */
export function jobHits(search: Search, viewed: Viewed, reader: HistoryReader | undefined): Hits {
  const fields = (job: { jobId: string; user: string; account: string }): string[] => [job.jobId, job.user, job.account]
  const running = hitsOf(search, viewed.jobs.all, fields, (job) => runningJob(viewed, job))
  const room = search.limit - running.found.length
  if (room <= 0 || !reader) return running
  // The jobs of what is on screen may know those of its past, too.
  const known = viewed.live?.jobs ?? viewed.jobs
  const kept = reader
    .findJobs(search.words, search.limit + running.found.length)
    .filter(({ jobId }) => known.find(jobId) === undefined)
  const ended = hitsOf({ ...search, limit: room }, kept, fields, ({ jobId, user, account, firstMs }) => ({
    kind: 'job',
    ...{ id: cut(jobId), user: cut(user), account: cut(account), rpcs: null, firstMs },
    colour: viewed.jobs.find(jobId)?.colour ?? 0,
  }))
  return { found: [...running.found, ...ended.found], total: running.total + ended.total }
}

/** Whoever owns jobs, by one of their facts. */
export function ownerHits(search: Search, viewed: Viewed, kind: 'user' | 'account'): Hits {
  const jobs = new Map<string, number>()
  for (const job of viewed.jobs.all) if (job[kind] !== '') jobs.set(job[kind], (jobs.get(job[kind]) ?? 0) + 1)
  return hitsOf(
    search,
    jobs,
    ([name]) => [name],
    ([name, count]) => ({ kind, name: cut(name), jobs: count }),
  )
}

function linesOf(viewed: Viewed, place: string): readonly RuleLine[] {
  const read = viewed.recent.rulesAt(place, viewed.sample)
  if (!read) return []
  const { live } = viewed
  if (read.lines) return read.lines
  const kept = live?.recent.rulesAt(place, viewed.sample)
  return live && kept ? rulesIn(live, place, kept) : parseNrsTbfRule(read.text).rules
}

export function ruleHits(search: Search, viewed: Viewed): Hits {
  const rules = SERVICE_NAMES.flatMap((service) => {
    const hosts = viewed.live?.serversOf(service) ?? (service === 'ost_io' ? viewed.servers : [])
    const servers = hosts.map((host) => ({ host, rules: linesOf(viewed, placeOf(host, service)) }))
    return (['reg', 'hp'] as const).flatMap((queue) =>
      mergeRules(servers, queue).map((rule) => ({ service, queue, rule })),
    )
  })
  return hitsOf(
    search,
    rules,
    ({ rule }) => [rule.name, rule.conditions],
    ({ service, queue, rule }) => ({
      kind: 'rule',
      ...{ service, queue, name: cut(rule.name), conditions: cut(rule.conditions) },
      servers: new Set(rule.lines.map((line) => line.host)).size,
    }),
  )
}

export const targetHits = (search: Search, viewed: Viewed): Hits =>
  hitsOf(
    search,
    viewed.targets,
    ({ target, node }) => [target, node],
    ({ target, node }) => ({ kind: 'target', name: cut(target), node: cut(node) }),
  )

export function nodeHits(search: Search, viewed: Viewed): Hits {
  const roles = new Map<string, string>()
  for (const { node } of viewed.targets) roles.set(node, '')
  for (const host of viewed.servers) roles.set(host, 'oss')
  for (const node of viewed.live?.source.nodes ?? []) roles.set(node.host, node.role)
  return hitsOf(
    search,
    roles,
    ([name]) => [name],
    ([name, role]) => ({ kind: 'node', name: cut(name), role }),
  )
}

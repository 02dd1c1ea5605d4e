/** Searchable items of the active source: jobs, users, accounts, rules, targets and nodes. */
import type { Found } from '#core/api/search.ts'
import { SERVICE_NAMES, type ServiceName } from '#core/api/rule-edits.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { Cheapest, matchCost } from '#core/search/match.ts'
import { jobColumn } from '../../cluster/state/recent.ts'
import { placeOf } from '../../base/service.ts'
import type { JobRead, RulesRead, ClusterView } from '../../cluster/cluster-view.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { rulesIn } from '../rules/servers.ts'
import { rateSamples, resolvePosition } from '../position.ts'
import { mergeRules, type MergedRule } from '../views/rules/rule-rows.ts'

export interface Search {
  readonly terms: readonly string[]
  readonly limit: number
}
export interface Hits {
  readonly found: readonly Found[]
  readonly total: number
}

/** Best matches of one kind. */
export function hitsOf<T>(
  { terms, limit }: Search,
  all: Iterable<T>,
  fields: (of: T) => readonly string[],
  make: (of: T) => Found,
): Hits {
  const best = new Cheapest<T>(limit)
  for (const one of all) {
    const cost = matchCost(terms, fields(one))
    if (cost !== undefined) best.add(cost, one)
  }
  return { found: best.items.map(make), total: best.total }
}

/** Names are cut to the contract's limit; text beyond it is not searched. */
const cut = (text: string): string => text.slice(0, 512)

function runningJob(viewed: ClusterView, job: JobRead): Found {
  // As in the views: while no server answers, the last measured sample.
  const sample = viewed.live ? resolvePosition(viewed, null).sample : viewed.sample
  const rate = viewed.recent.raw.jobs.mean(job.jobId, jobColumn('rpcs'), sample, rateSamples(viewed))
  return {
    kind: 'job',
    id: cut(job.jobId),
    user: cut(job.user),
    account: cut(job.account),
    colour: job.colour,
    rpcs: Number.isFinite(rate) ? rate : null,
    isThere: true,
    firstMs: job.firstSeenMs,
  }
}

/** Jobs of the source first; then jobs that only the history has. */
export function jobHits(search: Search, viewed: ClusterView, reader: HistoryReader | undefined): Hits {
  const fields = (job: { jobId: string; user: string; account: string }): string[] => [job.jobId, job.user, job.account]
  const running = hitsOf(search, viewed.jobs.all, fields, (job) => runningJob(viewed, job))
  const capacity = search.limit - running.found.length
  if (capacity <= 0 || !reader) return running
  // All matching displayed jobs are included, since the limit is not reached; the rest are ended jobs. For a recording any of
  // its jobs counts as known.
  const shown = new Set(running.found.map((job) => job.kind === 'job' && job.id))
  const storedJobs = reader
    .findJobs(search.terms, search.limit + running.found.length)
    .filter(({ jobId }) => !shown.has(cut(jobId)) && viewed.live?.jobs.find(jobId) === undefined)
  const ended = hitsOf({ ...search, limit: capacity }, storedJobs, fields, ({ jobId, user, account, firstMs }) => ({
    kind: 'job',
    id: cut(jobId),
    user: cut(user),
    account: cut(account),
    rpcs: null,
    isThere: false,
    firstMs,
    colour: viewed.jobs.jobColors.of(jobId),
  }))
  return { found: [...running.found, ...ended.found], total: running.total + ended.total }
}

/** Jobs per owner, counted once a sample: typing is faster than that. */
type Owners = Readonly<Record<'user' | 'account', ReadonlyMap<string, number>>>
const counted = new WeakMap<ClusterView['jobs'], { readonly of: string; readonly owners: Owners }>()

function ownersOf({ jobs, sample }: ClusterView): Owners {
  const of = `${sample} ${jobs.size}`
  const known = counted.get(jobs)
  if (known?.of === of) return known.owners
  const owners = { user: new Map<string, number>(), account: new Map<string, number>() }
  for (const { user, account } of jobs.all) {
    if (user !== '') owners.user.set(user, (owners.user.get(user) ?? 0) + 1)
    if (account !== '') owners.account.set(account, (owners.account.get(account) ?? 0) + 1)
  }
  counted.set(jobs, { of, owners })
  return owners
}

/** Owners of jobs, by one of their facts. */
export function ownerHits(search: Search, viewed: ClusterView, kind: 'user' | 'account'): Hits {
  return hitsOf(
    search,
    ownersOf(viewed)[kind],
    ([name]) => [name],
    ([name, count]) => ({ kind, name: cut(name), jobs: count }),
  )
}

function linesOf(viewed: ClusterView, place: string, read: RulesRead | undefined): readonly RuleLine[] {
  if (!read) return []
  const { live } = viewed
  if (read.lines) return read.lines
  const rules = live?.recent.rulesAt(place, viewed.sample)
  return live && rules ? rulesIn(live, place, rules) : parseNrsTbfRule(read.text).rules
}

interface Placed {
  readonly service: ServiceName
  readonly queue: 'reg' | 'hp'
  readonly rule: MergedRule
}
/** Merged rules of all servers, merged again only if a server's list was read again. */
const merged = new WeakMap<
  ClusterView['jobs'],
  { readonly reads: readonly (RulesRead | undefined)[]; readonly rules: readonly Placed[] }
>()

function rulesOf(viewed: ClusterView): readonly Placed[] {
  const lists = SERVICE_NAMES.flatMap((service) =>
    (viewed.live?.serversOf(service) ?? (service === 'ost_io' ? viewed.servers : [])).map((host) => {
      const place = placeOf(host, service)
      return { service, host, place, read: viewed.recent.rulesAt(place, viewed.sample) }
    }),
  )
  const known = merged.get(viewed.jobs)
  if (known?.reads.length === lists.length && lists.every(({ read }, i) => read === known.reads[i])) return known.rules
  const rules = SERVICE_NAMES.flatMap((service) => {
    const servers = lists
      .filter((list) => list.service === service)
      .map(({ host, place, read }) => ({ host, rules: linesOf(viewed, place, read) }))
    return (['reg', 'hp'] as const).flatMap((queue) =>
      mergeRules(servers, queue).map((rule) => ({ service, queue, rule })),
    )
  })
  merged.set(viewed.jobs, { reads: lists.map(({ read }) => read), rules })
  return rules
}

export function ruleHits(search: Search, viewed: ClusterView): Hits {
  return hitsOf(
    search,
    rulesOf(viewed),
    ({ rule }) => [rule.name, rule.conditions],
    ({ service, queue, rule }) => ({
      kind: 'rule',
      service,
      queue,
      name: cut(rule.name),
      conditions: cut(rule.conditions),
      servers: new Set(rule.lines.map((line) => line.host)).size,
    }),
  )
}

export const targetHits = (search: Search, viewed: ClusterView): Hits =>
  hitsOf(
    search,
    viewed.targets,
    ({ target, node }) => [target, node],
    ({ target, node }) => ({ kind: 'target', name: cut(target), node: cut(node) }),
  )

export function nodeHits(search: Search, viewed: ClusterView): Hits {
  const roles = new Map<string, string>()
  for (const { node } of viewed.targets) roles.set(node, '')
  for (const host of viewed.servers) roles.set(host, 'oss')
  for (const node of viewed.live?.source.nodes ?? []) roles.set(node.host, node.roles.join(' + '))
  return hitsOf(
    search,
    roles,
    ([name]) => [name],
    ([name, role]) => ({ kind: 'node', name: cut(name), role }),
  )
}

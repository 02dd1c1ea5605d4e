/** Recorded rules of a server: names, servers and rates. Nothing is staged, planned or timed. */
import type { RulesFrame } from '#core/api/frames.ts'
import { SERVICE_NAMES, type ServiceName } from '#core/api/rule-edits.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { splitConditions } from '#core/tbf/conditions.ts'
import { placeOf, SERVICES } from '../../../base/service.ts'
import type { RecordedCluster } from '../../../recorded/recorded-cluster.ts'
import { againstOf, type FindAgainst } from '../against.ts'
import { resolvePosition } from '../../position.ts'
import { linesOf } from '../rule-lookup.ts'
import { bound, mergeRules, missingOn, onlyJob, soughtIn, type MergedRule } from './rule-rows.ts'
import { rulesAgainst } from './rules-against.ts'
import { filteredRules } from './rules-filter.ts'
import { serverText, type RulesQuery } from './rules.ts'

/** Servers of a service with recorded rules at a sample; data servers are also recognized by their targets. */
function hostsOf(viewed: RecordedCluster, service: ServiceName, sample: number): readonly string[] {
  if (service === 'ost_io') return viewed.servers
  const places = sample === 0 ? [] : [...viewed.rulesAt(sample).keys()]
  const suffix = placeOf('', service)
  return places.filter((p) => p.endsWith(suffix)).map((p) => p.slice(0, p.length - suffix.length))
}

function rowOf(
  viewed: RecordedCluster,
  rule: MergedRule,
  place: { readonly sample: number; readonly service: ServiceName; readonly hosts: readonly string[] },
): RulesFrame['rows'][number] {
  const expressions = (splitConditions(rule.conditions) ?? []).map((e) => ({ ...e, items: [...e.items] }))
  const jobId = onlyJob(expressions)
  const rates = rule.lines.map((l) => l.line.rate)
  const ceiling = rates.reduce((sum, r) => sum + r, 0)
  const isOur = isControllerRule(rule.name)
  return {
    name: rule.name,
    conditions: rule.conditions,
    expressions,
    rateMin: Math.min(...rates),
    rateMax: Math.max(...rates),
    ceiling,
    ...bound(viewed, jobId, place, ceiling),
    ref: rule.lines.reduce((n, l) => n + l.line.ref, 0),
    refZeroMs: null,
    owner: rule.name === 'default' ? 'lustre' : isOur ? 'sluice' : 'other',
    ...(jobId === undefined ? {} : { jobId }),
    expiresMs: null,
    createdMs: null,
    servers: new Set(rule.lines.map((l) => l.host)).size,
    serversTotal: place.hosts.length,
    missing: isOur ? [] : missingOn(rule, place.hosts),
    staged: '',
    rateStaged: null,
    would: null,
    reason: '',
  }
}

export function recordedRulesFrame(
  viewed: RecordedCluster,
  query: RulesQuery,
  seq: number,
  find?: FindAgainst,
): RulesFrame {
  const { sample, atMs } = resolvePosition(viewed, query.at)
  const { service } = query
  const { a, head } = againstOf(query.againstMs, find)
  const nodes = hostsOf(viewed, service, sample)
  const node = nodes.includes(query.node) ? query.node : ''
  const hosts = nodes.filter((n) => node === '' || n === node)
  const kept = hosts.map((host) => ({
    host,
    rules: sample === 0 ? undefined : viewed.recent.rulesAt(placeOf(host, service), sample),
  }))
  const servers = kept.map(({ host, rules }) => ({ host, rules: linesOf(rules) }))
  const merged = mergeRules(servers, query.queue)
  const then = a && rulesAgainst(a, query, hosts)
  const shown = filteredRules(merged, query, {
    rowOf: (m) => ({ ...rowOf(viewed, m, { sample, service, hosts }), ...then?.of(m) }),
    stagedOf: () => '',
    inOrder: (rules) => rules,
    lints: [],
    atMs,
  })
  const first = kept[0]
  return {
    seq,
    sample,
    atMs,
    ...head,
    ...(then ? { gone: then.gone(merged) } : {}),
    services: SERVICE_NAMES.filter((s) => hostsOf(viewed, s, sample).length > 0),
    service,
    nodes: [...nodes],
    node,
    queue: query.queue,
    // Policies, releases, queues and remarks are not recorded.
    policy: '',
    release: '',
    queued: 0,
    drifting: 0,
    differs: '',
    lints: [],
    plans: [],
    cpts: new Set(servers.flatMap((s) => s.rules.map((r) => r.cpt))).size,
    ...shown,
    ...soughtIn(merged, query.sought),
    server: serverText(first?.host ?? '', SERVICES[service].rules, first?.rules?.text),
  }
}

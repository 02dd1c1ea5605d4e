/** Rules in match order, as the servers printed them, with staged changes, and the controller's last changes. */
import type { RulesFrame } from '#core/api/frames.ts'
import { SERVICE_NAMES, type ServiceName } from '#core/api/rule-edits.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { driftOf } from '#core/control/drift.ts'
import { lintRules } from '#core/control/lint.ts'
import { errnoNumber } from '#core/lustre/errno.ts'
import { getParamCommand, setParamCommand } from '#core/lustre/lctl.ts'
import { classesOfEach } from '#core/control/trial.ts'
import { DEFAULT_RULE } from '#core/control/server-rules.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { writtenLines } from '../../../cluster/state/rule-matcher.ts'
import { placeOf, SERVICES } from '../../../base/service.ts'
import { SlotWatch } from '../../../cluster/slots.ts'
import { toLint } from '../../rules/check.ts'
import type { RuleService } from '../../rules/rule-service.ts'
import { ThrottledCache } from '../../rules/throttled-cache.ts'
import { liveJobs, rulesIn, unreadIn } from '../../rules/servers.ts'
import { againstOf, type FindAgainst } from '../against.ts'
import { isPresent, resolvePosition } from '../../position.ts'
import { rulesAgainst } from './rules-against.ts'
import { filteredRules, inStagedPlaces } from './rules-filter.ts'
import type { RulePlan } from '../../rules/rule-plan.ts'
import { triedGroups } from '../../rules/trial-inputs.ts'
import { mergeRules, ruleRow, soughtIn, type MergedRule, type StagedMark } from './rule-rows.ts'

/** Most lines of a plan, and of a server's answer, in one frame; the rest is counted. */
const PLAN_LINES = 24
const SERVER_LINES = 200

export interface RulesQuery {
  readonly at: number | null
  readonly againstMs?: number | null
  readonly service: ServiceName
  readonly node: string
  readonly queue: 'reg' | 'hp'
  readonly filter?: string | undefined
  readonly sought?: string | undefined
  readonly offset: number
  readonly limit: number
}

function planOf(monitor: ClusterMonitor, host: string, service: ServiceName, atMs: number | null): RulesFrame['plans'] {
  const o = service === 'ost_io' ? monitor.loop.outcome(host) : monitor.metadata.outcome(host, service)
  if (!o || (atMs !== null && o.atMs > atMs)) return []
  const literal = (c: { value: string }): string => setParamCommand(SERVICES[service].rules, c.value)
  const { diff, commands, inverse } = o.plan
  return [
    {
      node: host,
      atMs: o.atMs,
      state: o.state,
      detail: o.detail,
      diff: diff.slice(0, PLAN_LINES),
      commands: commands.slice(0, PLAN_LINES).map(literal),
      inverse: inverse.slice(0, PLAN_LINES).map(literal),
      more: Math.max(0, commands.length - PLAN_LINES),
    },
  ]
}

/** Output of lctl on a server, cut to the first lines. */
export function serverText(host: string, parameter: string, text: string | undefined): RulesFrame['server'] {
  const command = getParamCommand(parameter)
  if (text === undefined) return { node: host, command, text: '', exit: null, more: 0 }
  if (text === '') return { node: host, command, text: '', exit: errnoNumber('ENODEV'), more: 0 }
  const lines = `${parameter}=\n${text}`.split('\n')
  const more = Math.max(0, lines.length - SERVER_LINES)
  return { node: host, command, text: lines.slice(0, SERVER_LINES).join('\n'), exit: 0, more }
}

/** Remarks and differences of the present; a past sample has none, because their inputs are not kept. */
function remarks(ruleService: RuleService, service: ServiceName): Pick<RulesFrame, 'lints' | 'drifting' | 'differs'> {
  const { monitor } = ruleService
  const servers = ruleService.servers(service)
  const drift = driftOf(servers, isControllerRule)
  const atMs = monitor.nowMs()
  const lints = lintRules({
    servers,
    service,
    jobs: liveJobs(monitor, service),
    isPrivate: isControllerRule,
    isLimited: (jobId) => SlotWatch.waits(monitor.recent, jobId),
    unboundMs: (name) => {
      const hosts = servers.filter((s) => s.rules.some((r) => r.name === name)).map((s) => s.server)
      const since = monitor.idleRules.since(
        hosts.map((h) => placeOf(h, service)),
        name,
      )
      return since === undefined ? undefined : atMs - since
    },
  })
  return {
    lints: lints.map(toLint),
    drifting: new Set(drift.map((d) => d.rule)).size,
    differs: drift.map((d) => d.text).join('; '),
  }
}

/** Remarks are updated at their own interval. */
const REMARKS_MS = 500
const cache = new WeakMap<RuleService, Record<ServiceName, ThrottledCache<ReturnType<typeof remarks>>>>()

function remarksNow(ruleService: RuleService, service: ServiceName): ReturnType<typeof remarks> {
  const of = cache.get(ruleService) ?? {
    ost_io: new ThrottledCache(REMARKS_MS),
    mdt: new ThrottledCache(REMARKS_MS),
    mdt_readpage: new ThrottledCache(REMARKS_MS),
  }
  cache.set(ruleService, of)
  return of[service].get('', () => remarks(ruleService, service))
}

interface StagedRows {
  readonly rows: readonly MergedRule[]
  readonly marks: ReadonlyMap<MergedRule, StagedMark>
}

/** Classes that the new rules of a plan would have, by name; counted once per plan. */
const boundClasses = new WeakMap<RulePlan, ReadonlyMap<string, number>>()

function wouldBind(ruleService: RuleService, service: ServiceName, plan: RulePlan, rule: string): number {
  let classes = boundClasses.get(plan)
  if (!classes) {
    const rules = new Set(plan.staged.map((s) => s.edit.name).filter((name) => name !== DEFAULT_RULE))
    classes = classesOfEach(liveJobs(ruleService.monitor, service), rules, triedGroups(service, plan))
    boundClasses.set(plan, classes)
  }
  return classes.get(rule) ?? 0
}

/** Rows of one queue with their staged changes: marks on existing rules, and rows for new ones. */
function stagedRows(
  ruleService: RuleService,
  service: ServiceName,
  queue: 'reg' | 'hp',
  merged: readonly MergedRule[],
): StagedRows {
  if (ruleService.staged.of(service).length === 0) return { rows: merged, marks: new Map() }
  const plan = ruleService.plan(service)
  const preview = plan.changes.find((c) => c.plan.commands.length > 0)?.plan.preview[queue] ?? []
  const marks = new Map<MergedRule, StagedMark>()
  const rows = [...merged]
  for (const [at, line] of preview.entries()) {
    const row = merged.find((m) => m.name === line.name)
    if (line.kind === 'mod' && row) marks.set(row, { kind: 'mod', rate: line.rate, would: null })
    else if (line.kind === 'del' && row && !marks.has(row)) marks.set(row, { kind: 'del', rate: null, would: null })
    else if (line.kind === 'add') {
      // A rule replaced under its name keeps its position.
      if (row) {
        marks.set(row, { kind: 'mod', rate: line.rate, would: null })
        continue
      }
      const next = preview.slice(at + 1).find((l) => rows.some((r) => r.name === l.name))?.name
      const added: MergedRule = { name: line.name, conditions: line.conditions, lines: [] }
      const place = next === undefined ? rows.length : rows.findIndex((r) => r.name === next)
      rows.splice(place, 0, added)
      marks.set(added, { kind: 'add', rate: line.rate, would: wouldBind(ruleService, service, plan, line.name) })
    }
  }
  return { rows, marks }
}

export function rulesFrame(ruleService: RuleService, query: RulesQuery, seq: number, find?: FindAgainst): RulesFrame {
  const { monitor } = ruleService
  const { sample, atMs } = resolvePosition(monitor, query.at)
  const { a, head } = againstOf(query.againstMs, find)
  const nodes = monitor.serversOf(query.service)
  const node = nodes.includes(query.node) ? query.node : ''
  const texts = nodes
    .filter((n) => node === '' || n === node)
    .map((host) => ({ host, kept: monitor.recent.rulesAt(placeOf(host, query.service), sample) }))
  // Releases print the same rule in different forms.
  const servers = texts.map(({ host, kept: text }) => ({
    host,
    rules: text ? writtenLines(rulesIn(monitor, placeOf(host, query.service), text), text.policy) : [],
  }))
  const unread = texts.flatMap(({ host, kept: text }) => {
    const found = text && unreadIn(monitor, placeOf(host, query.service), text)
    return found ? [{ node: host, ...found }] : []
  })
  const isNow = isPresent(monitor, sample)
  const merged = mergeRules(servers, query.queue)
  const staged = isNow
    ? stagedRows(ruleService, query.service, query.queue, merged)
    : { rows: merged, marks: new Map<MergedRule, StagedMark>() }
  const first = texts[0]
  const found = isNow && sample > 0 ? remarksNow(ruleService, query.service) : { lints: [], drifting: 0, differs: '' }
  const hosts = texts.map((t) => t.host)
  const then = a && rulesAgainst(a, query, hosts)
  const shown = filteredRules(staged.rows, query, {
    rowOf: (m) => ({
      ...ruleRow(ruleService, m, { sample, service: query.service, hosts, mark: staged.marks.get(m) }),
      ...then?.of(m),
    }),
    inOrder: (rules) => (isNow ? inStagedPlaces(rules, ruleService.staged.of(query.service)) : rules),
    stagedOf: (m) => staged.marks.get(m)?.kind ?? '',
    lints: found.lints,
    atMs,
  })
  const policies = texts.flatMap(({ host }) => monitor.serviceReading(host, query.service)?.policies ?? [])
  return {
    seq,
    sample,
    atMs,
    ...head,
    ...(then ? { gone: then.gone(merged) } : {}),
    services: SERVICE_NAMES.filter((s) => monitor.serversOf(s).length > 0),
    service: query.service,
    nodes: [...nodes],
    node,
    queue: query.queue,
    policy: first?.kept?.policy ?? '',
    cpts: new Set(servers.flatMap((s) => s.rules.map((r) => r.cpt))).size,
    release: monitor.reading(first?.host ?? '')?.version?.text ?? '',
    queued: isNow ? policies.filter((p) => p.queue === query.queue).reduce((n, p) => n + p.queued, 0) : 0,
    ...shown,
    ...soughtIn(staged.rows, query.sought),
    ...found,
    plans: texts.flatMap(({ host }) => planOf(monitor, host, query.service, atMs)),
    ...(unread.length > 0 ? { unread } : {}),
    server: serverText(first?.host ?? '', SERVICES[query.service].rules, first?.kept?.text),
  }
}

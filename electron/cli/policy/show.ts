/** `sluice policy show CLUSTER`: the policies of each server, service and queue. */
import type { Command } from 'commander'
import { SERVICE_NAMES, type ServiceName } from '#core/api/rule-edits.ts'
import { formatFailure } from '#core/base/result.ts'
import { isControllerRule, isHelperRule } from '#core/controllers/registry.ts'
import { policyText } from '#core/control/policy-plan.ts'
import { DEFAULT_RULE, QUEUES } from '#core/control/server-rules.ts'
import { primaryPolicy, type PolicyStatus, type Queue } from '#core/lustre/nrs-policies.ts'
import { EnforcementStore } from '../../enforce/store.ts'
import { pastOf } from '../../host/rules/change-record.ts'
import { presentServers } from '../../host/rules/servers.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import { flagsOf } from '../clusters-flags.ts'
import { openCluster, stopOpening, type OpenCluster } from '../live.ts'
import { EXIT, jsonText, line, must, plain } from '../output.ts'
import { commandRules, openStore } from '../rules/command-rules.ts'

export interface ShowOptions {
  readonly json?: true
  readonly service?: ServiceName
}

interface ShownQueue {
  readonly queue: Queue
  /** The policy that schedules the queue, with its TBF type. */
  readonly policy: string
  readonly arg: string
  readonly state: string
  readonly fallback: boolean
  readonly queued: number
  readonly active: number
  /** Rules of its TBF, by owner; the built-in rule is not counted. */
  readonly rules: { readonly sluice: number; readonly controller: number; readonly other: number }
  readonly policies: readonly Omit<PolicyStatus, 'queue'>[]
}

interface ShownNode {
  readonly host: string
  readonly version: string
  readonly service: ServiceName
  readonly queues: readonly ShownQueue[]
}

interface ShownChange {
  readonly change: string
  readonly service: ServiceName
  readonly at: string
  readonly state: string
  readonly title: string
  readonly reason: string
}

/** Most changes that are listed. */
const CHANGES = 20

function nodesOf({ source: { monitor } }: OpenCluster, ruleService: RuleService, service: ServiceName): ShownNode[] {
  return presentServers(monitor, service, ruleService.rules).map(({ server: host, rules }) => {
    const all = monitor.serviceReading(host, service)?.policies ?? []
    const queues = QUEUES.flatMap((queue): ShownQueue[] => {
      const inQueue = all.filter((p) => p.queue === queue)
      const now = primaryPolicy(all, queue)
      if (inQueue.length === 0) return []
      const names = new Set(rules.filter((r) => r.queue === queue && r.name !== DEFAULT_RULE).map((r) => r.name))
      const controller = [...names].filter(isControllerRule)
      const isManaged = (name: string): boolean =>
        isHelperRule(name) || ruleService.rules.find({ service, host, queue, name }) !== undefined
      const sluice = [...names].filter((n) => !isControllerRule(n) && isManaged(n))
      return [
        {
          queue,
          policy: now?.name ?? '',
          arg: now?.arg ?? '',
          state: now?.state ?? 'unknown',
          fallback: now?.fallback ?? false,
          queued: inQueue.reduce((n, p) => n + p.queued, 0),
          active: inQueue.reduce((n, p) => n + p.active, 0),
          rules: {
            sluice: sluice.length,
            controller: controller.length,
            other: names.size - controller.length - sluice.length,
          },
          policies: inQueue.map(({ name, arg, state, fallback, queued, active }) => {
            return { name, arg, state, fallback, queued, active }
          }),
        },
      ]
    })
    return { host, version: monitor.reading(host)?.version?.text ?? '', service, queues }
  })
}

/** Policy changes, newest first. */
function changesOf(store: EnforcementStore, cluster: string, services: readonly ServiceName[]): ShownChange[] {
  return store.changes
    .of(cluster)
    .flatMap(({ id, atMs, state, document }): ShownChange[] => {
      const past = pastOf(id, atMs, state, document)
      if (!past?.policy || !services.includes(past.service)) return []
      const { service, title, reason } = past
      return [{ change: id, service, at: new Date(atMs).toISOString(), state, title, reason }]
    })
    .slice(0, CHANGES)
}

const ruleCounts = ({ sluice, controller, other }: ShownQueue['rules']): string =>
  [
    sluice > 0 ? `${sluice} rules managed by Sluice` : '',
    controller > 0 ? `${controller} of a controller` : '',
    other > 0 ? `${other} other rules` : '',
  ]
    .filter((w) => w !== '')
    .join(', ')

function queueLines(q: ShownQueue): string[] {
  const head = [
    q.queue.padEnd(4),
    policyText({ name: q.policy, arg: q.arg }).padEnd(20),
    q.state.padEnd(9),
    (q.fallback ? 'fallback' : '').padEnd(9),
    `${q.queued} queued, ${q.active} active`,
  ].join(' ')
  const rules = ruleCounts(q.rules)
  const moving = q.policies
    .filter((p) => p.state === 'stopping' || p.state === 'starting')
    .map((p) => `       ${policyText(p)} is ${p.state}, ${p.queued} queued, ${p.active} active`)
  return [`    ${head}${rules === '' ? '' : `; ${rules}`}`, ...moving]
}

function text(nodes: readonly ShownNode[], changes: readonly ShownChange[]): string {
  const out: string[] = []
  for (const n of nodes) {
    out.push(`${n.host}  Lustre ${n.version}  ${n.service}`, ...n.queues.flatMap(queueLines))
    if (n.queues.length === 0) out.push('    policies not read')
  }
  if (changes.length > 0) out.push('policy changes:')
  for (const c of changes) {
    const reason = c.reason === '' ? '' : `, ${c.reason}`
    const state = c.state === 'undone' ? 'reverted' : c.state
    out.push(`  ${c.change}  ${c.at}  ${c.service}  ${c.title}, ${state}${reason}`)
  }
  return out.map(plain).join('\n')
}

/** Exits with 5 if some servers did not answer. */
export async function show(name: string, { json, service }: ShowOptions, command: Command): Promise<void> {
  const flags = flagsOf(command)
  const openedStore = openStore(flags)
  // Policies can still be shown; only the owners of rules are unknown.
  if (!openedStore.ok) process.stderr.write(`sluice: ${plain(formatFailure(openedStore.error))}\n`)
  const store = openedStore.ok ? openedStore.value : must(EnforcementStore.open(':memory:', Date.now()))
  const opened = await openCluster(name, flags, { reconnects: false })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const ruleService = commandRules(cluster, store)
  const services = service === undefined ? SERVICE_NAMES : [service]
  const nodes = services.flatMap((s) => nodesOf(cluster, ruleService, s))
  const changes = changesOf(store, cluster.name, services)
  const missing = cluster.missing()
  const gap = missing.length > 0 ? { partial: true, missing } : {}
  if (json) line(jsonText({ cluster: cluster.name, nodes, changes, ...gap }))
  else line(text(nodes, changes))
  process.exitCode = missing.length > 0 ? EXIT.partial : EXIT.done
  await cluster.close()
  store.close()
}

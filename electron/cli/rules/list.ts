/** `sluice rules list CLUSTER`: rules of a service on every server, with their owner. */
import type { Command } from 'commander'
import type { ServiceName } from '#core/api/rule-edits.ts'
import { formatFailure } from '#core/base/result.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { DEFAULT_RULE, writtenRules } from '#core/control/server-rules.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { SERVICES } from '../../base/service.ts'
import { covers, readTimers, type FoundTimer } from '../../enforce/expiry.ts'
import { EnforcementStore } from '../../enforce/store.ts'
import type { ManagedRule } from '../../enforce/store-rules.ts'
import { presentServers } from '../../host/rules/servers.ts'
import { openCluster, stopOpening, type OpenCluster } from '../live.ts'
import { EXIT, jsonText, line, must, plain } from '../output.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import { flagsOf } from '../clusters-flags.ts'
import { commandRules, openStore } from './command-rules.ts'

const ANSWER_MS = 10_000

/**
 * sluice: started by an operator from this data folder. controller: started by a controller of any console. other: not managed by
 * Sluice.
 */
type Owner = 'sluice' | 'controller' | 'built-in' | 'other'

interface ListedRule {
  readonly queue: 'reg' | 'hp'
  readonly cpt: number
  /** Position in the list, from 0: the first rule that matches applies. */
  readonly rank: number
  readonly name: string
  readonly match: string
  readonly rate: number
  readonly classes: number
  readonly owner: Owner
  readonly reason?: string
  readonly by?: string
  readonly change?: string
  readonly expires?: string
}

interface ListedNode {
  readonly host: string
  readonly version: string
  readonly policy: { readonly reg: string | null; readonly hp: string | null }
  readonly rules: readonly ListedRule[]
}

const ownerOf = (name: string, managed: ManagedRule | undefined): Owner =>
  managed ? 'sluice' : isControllerRule(name) ? 'controller' : name === DEFAULT_RULE ? 'built-in' : 'other'

const policy = (arg: string | undefined): string | null => (arg === undefined ? null : `tbf ${arg}`.trim())

/** Seconds until the first timer on the server stops the rule, of any console; undefined if no timer is known. */
function remainingOf(timers: readonly FoundTimer[] = [], service: ServiceName, r: RuleLine): number | undefined {
  const stop = { parameter: SERVICES[service].rules, queue: r.queue, name: r.name }
  const remaining = timers.filter((t) => covers(t, [stop])).flatMap((t) => t.leftS ?? [])
  return remaining.length === 0 ? undefined : Math.min(...remaining)
}

function expiryOf(
  managed: ManagedRule | undefined,
  remainingS: number | undefined,
  nowMs: number,
): { expires?: string } {
  const atMs = managed?.expiresMs ?? (remainingS === undefined ? undefined : nowMs + remainingS * 1000)
  return atMs === undefined ? {} : { expires: new Date(atMs).toISOString() }
}

/** Timers of Sluice on the servers of a service, of any console; none for a server that does not list them. */
async function timersOf(
  { source: { monitor } }: OpenCluster,
  service: ServiceName,
): Promise<Map<string, FoundTimer[]>> {
  const found = await Promise.all(
    monitor.serversOf(service).map(async (host): Promise<[string, FoundTimer[]]> => {
      const node = monitor.missing.has(host) ? undefined : monitor.node(host)
      const read = node && (await readTimers(node, ANSWER_MS))
      return [host, read?.ok ? read.value : []]
    }),
  )
  return new Map(found)
}

function listedNodes(
  { name, source }: OpenCluster,
  ruleService: RuleService,
  store: EnforcementStore,
  service: ServiceName,
  timers: ReadonlyMap<string, readonly FoundTimer[]> = new Map(),
): ListedNode[] {
  const { monitor } = source
  return presentServers(monitor, service, ruleService.rules).map((server) => {
    const ranks = new Map<string, number>()
    const rules = writtenRules(server).map((r): ListedRule => {
      const head = `${r.queue} ${r.cpt}`
      const rank = ranks.get(head) ?? 0
      ranks.set(head, rank + 1)
      const managed = store.rules.find({ cluster: name, host: server.server, service, queue: r.queue, name: r.name })
      return {
        queue: r.queue,
        cpt: r.cpt,
        rank,
        name: r.name,
        match: r.conditions,
        rate: r.rate,
        classes: r.ref,
        owner: ownerOf(r.name, managed),
        ...(managed ? { reason: managed.reason, by: managed.owner, change: managed.change } : {}),
        ...expiryOf(managed, remainingOf(timers.get(server.server), service, r), monitor.nowMs()),
      }
    })
    const version = monitor.reading(server.server)?.version?.text ?? ''
    return { host: server.server, version, policy: { reg: policy(server.tbf.reg), hp: policy(server.tbf.hp) }, rules }
  })
}

/** Formats a table; CPTs with identical lists are merged. */
function listTable(nodes: readonly ListedNode[]): string {
  return nodes
    .flatMap(({ host, version, policy: { reg, hp }, rules }) => {
      const head = `${host}  Lustre ${plain(version)}  reg: ${reg ?? 'no TBF'}  hp: ${hp ?? 'no TBF'}`
      const shown = rules.filter((r) => r.cpt === 0)
      const rows = shown.map((r) => {
        const note = [r.owner === 'other' ? '' : r.owner, r.expires ? `until ${r.expires}` : '', r.reason ?? '']
        const cells = [
          r.queue.padEnd(4),
          plain(r.name).padEnd(16),
          String(r.rate).padStart(7),
          plain(r.match).padEnd(36),
        ]
        return `  ${cells.join(' ')} ${plain(note.filter((n) => n !== '').join(', '))}`.trimEnd()
      })
      const isUneven = rules.length % Math.max(1, shown.length) !== 0
      return [head, ...rows, ...(isUneven ? ['  (CPTs differ; --json has all)'] : [])]
    })
    .join('\n')
}

interface ListOptions {
  readonly json?: true
  readonly service: ServiceName
}

/** Prints the rules; exits with 5 if some servers did not answer. */
export async function list(name: string, { json, service }: ListOptions, command: Command): Promise<void> {
  const flags = flagsOf(command)
  const openedStore = openStore(flags)
  // Rules can still be listed; only their owners are unknown.
  if (!openedStore.ok) process.stderr.write(`sluice: ${plain(formatFailure(openedStore.error))}\n`)
  const store = openedStore.ok ? openedStore.value : must(EnforcementStore.open(':memory:', Date.now()))
  const opened = await openCluster(name, flags, { reconnects: false })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const timers = await timersOf(cluster, service)
  const nodes = listedNodes(cluster, commandRules(cluster, store), store, service, timers)
  const servers = new Set(cluster.source.monitor.serversOf(service))
  const missing = cluster.missing().filter((m) => !servers.has(m.host) || !nodes.some((n) => n.host === m.host))
  if (json) line(jsonText({ cluster: cluster.name, service, nodes, ...(missing.length > 0 ? { missing } : {}) }))
  else line(listTable(nodes))
  process.exitCode = missing.length > 0 ? EXIT.partial : EXIT.done
  await cluster.close()
  store.close()
}

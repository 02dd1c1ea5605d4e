/** `sluice rules list CLUSTER`: rules of a service on every server, with their owner. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { DEFAULT_RULE, writtenRules } from '#core/control/server-rules.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { SERVICES } from '../../base/service.ts'
import { covers, readTimers, type FoundTimer } from '../../enforce/expiry.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import type { OwnRule } from '../../enforce/store-rules.ts'
import { presentServers } from '../../host/rules/servers.ts'
import type { OpenCluster } from '../live.ts'
import { plain } from '../output.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'

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

const ownerOf = (name: string, own: OwnRule | undefined): Owner =>
  own ? 'sluice' : isControllerRule(name) ? 'controller' : name === DEFAULT_RULE ? 'built-in' : 'other'

const policy = (arg: string | undefined): string | null => (arg === undefined ? null : `tbf ${arg}`.trim())

/** Seconds until the first timer on the server stops the rule, of any console; undefined if no timer is known. */
function leftOf(timers: readonly FoundTimer[] = [], service: ServiceName, r: RuleLine): number | undefined {
  const stop = { parameter: SERVICES[service].rules, queue: r.queue, name: r.name }
  const left = timers.filter((t) => covers(t, [stop])).flatMap((t) => t.leftS ?? [])
  return left.length === 0 ? undefined : Math.min(...left)
}

function expiryOf(own: OwnRule | undefined, leftS: number | undefined, nowMs: number): { expires?: string } {
  const atMs = own?.expiresMs ?? (leftS === undefined ? undefined : nowMs + leftS * 1000)
  return atMs === undefined ? {} : { expires: new Date(atMs).toISOString() }
}

/** Timers of Sluice on the servers of a service, of any console; none for a server that does not list them. */
export async function timersOf(
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

export function listedNodes(
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
      const own = store.rules.find({ cluster: name, host: server.server, service, queue: r.queue, name: r.name })
      return {
        queue: r.queue,
        cpt: r.cpt,
        rank,
        name: r.name,
        match: r.conditions,
        rate: r.rate,
        classes: r.ref,
        owner: ownerOf(r.name, own),
        ...(own ? { reason: own.reason, by: own.owner, change: own.change } : {}),
        ...expiryOf(own, leftOf(timers.get(server.server), service, r), monitor.nowMs()),
      }
    })
    const version = monitor.reading(server.server)?.version?.text ?? ''
    return { host: server.server, version, policy: { reg: policy(server.tbf.reg), hp: policy(server.tbf.hp) }, rules }
  })
}

/** Formats a table; CPTs with identical lists are merged. */
export function listTable(nodes: readonly ListedNode[]): string {
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

/** `sluice rules list CLUSTER`: the rules of a service on every server, and whose they are. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import { isOurs } from '#core/control/desired-rule.ts'
import { DEFAULT_RULE, writtenRules } from '#core/control/server-rules.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import type { OwnRule } from '../../enforce/store-rules.ts'
import { presentServers } from '../../host/rules/servers.ts'
import type { OpenCluster } from '../live.ts'
import { plain } from '../output.ts'
import type { RuleDesk } from '../../host/rules/desk.ts'

/** sluice: started by an operator from this data folder. controller: of a controller, whoever runs it. other: somebody else's. */
type Owner = 'sluice' | 'controller' | 'built-in' | 'other'

interface ListedRule {
  readonly queue: 'reg' | 'hp'
  readonly cpt: number
  /** Place in the list, from 0: the first that matches counts. */
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
  own ? 'sluice' : isOurs(name) ? 'controller' : name === DEFAULT_RULE ? 'built-in' : 'other'

const policy = (arg: string | undefined): string | null => (arg === undefined ? null : `tbf ${arg}`.trim())

export function listedNodes(
  { name, console }: OpenCluster,
  desk: RuleDesk,
  store: EnforcementStore,
  service: ServiceName,
): ListedNode[] {
  const { monitor } = console
  return presentServers(monitor, service, desk.rules).map((server) => {
    const ranks = new Map<string, number>()
    const rules = writtenRules(server).map((r): ListedRule => {
      const head = `${r.queue} ${r.cpt}`
      const rank = ranks.get(head) ?? 0
      ranks.set(head, rank + 1)
      const own = store.rules.find({ cluster: name, host: server.server, service, queue: r.queue, name: r.name })
      return {
        ...{ queue: r.queue, cpt: r.cpt, rank, name: r.name, match: r.conditions, rate: r.rate, classes: r.ref },
        owner: ownerOf(r.name, own),
        ...(own ? { reason: own.reason, by: own.owner, change: own.change } : {}),
        ...(own && own.expiresMs !== null ? { expires: new Date(own.expiresMs).toISOString() } : {}),
      }
    })
    const version = monitor.reading(server.server)?.version?.text ?? ''
    return { host: server.server, version, policy: { reg: policy(server.tbf.reg), hp: policy(server.tbf.hp) }, rules }
  })
}

/** A terse table; CPTs with the same list are one. */
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

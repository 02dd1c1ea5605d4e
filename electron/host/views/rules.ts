/** The rules in match order, as the servers printed them, and what the controller changed last. */
import type { RulesFrame } from '#core/api/frames.ts'
import { isOurs } from '#core/control/desired-rule.ts'
import { getParamCommand, setParamCommand } from '#core/lustre/lctl.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { errnoNumber } from '#core/lustre/errno.ts'
import { TBF_RULE } from '../../cluster/collector.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { stand } from './position.ts'
import { mergeRules, ruleRow } from './rule-rows.ts'

/** Lines of a plan, and of a server's answer, that one frame carries; the rest is counted. */
const PLAN_LINES = 24
const SERVER_LINES = 200

export interface RulesQuery {
  readonly at: number | null
  readonly node: string
  readonly queue: 'reg' | 'hp'
  readonly offset: number
  readonly limit: number
}

function planOf(monitor: ClusterMonitor, host: string, atMs: number | null): RulesFrame['plans'] {
  const o = monitor.loop.outcome(host)
  if (!o || (atMs !== null && o.atMs > atMs)) return []
  const literal = (c: { value: string }): string => setParamCommand(TBF_RULE, c.value)
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

/** What lctl answered on a server, cut to the first lines. */
function serverText(host: string, text: string | undefined): RulesFrame['server'] {
  const command = getParamCommand(TBF_RULE)
  if (text === undefined) return { node: host, command, text: '', exit: null, more: 0 }
  if (text === '') return { node: host, command, text: '', exit: errnoNumber('ENODEV'), more: 0 }
  const lines = `${TBF_RULE}=\n${text}`.split('\n')
  const more = Math.max(0, lines.length - SERVER_LINES)
  return { node: host, command, text: lines.slice(0, SERVER_LINES).join('\n'), exit: 0, more }
}

export function rulesFrame(monitor: ClusterMonitor, query: RulesQuery, seq: number): RulesFrame {
  const { sample, atMs } = stand(monitor, query.at)
  const nodes = monitor.servers
  const node = nodes.includes(query.node) ? query.node : ''
  const texts = nodes
    .filter((n) => node === '' || n === node)
    .map((host) => ({ host, kept: monitor.recent.rulesAt(host, sample) }))
  const servers = texts.map(({ host, kept }) => ({ host, rules: parseNrsTbfRule(kept?.text ?? '').rules }))
  const merged = mergeRules(servers, query.queue)
  const offset = Math.min(query.offset, Math.max(0, merged.length - 1))
  const first = texts[0]
  return {
    seq,
    sample,
    atMs,
    nodes: [...nodes],
    node,
    queue: query.queue,
    policy: first?.kept?.policy ?? '',
    cpts: new Set(servers.flatMap((s) => s.rules.map((r) => r.cpt))).size,
    known: merged.length,
    offset,
    rows: merged.slice(offset, offset + query.limit).map((m) => ruleRow(monitor, m, sample, servers.length)),
    // A controller decides per server, so its rules need not be on all of them.
    drifting: merged.filter((m) => !isOurs(m.name) && new Set(m.lines.map((l) => l.host)).size < servers.length).length,
    plans: texts.flatMap(({ host }) => planOf(monitor, host, atMs)),
    server: serverText(first?.host ?? '', first?.kept?.text),
  }
}

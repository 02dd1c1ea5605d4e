/** The rules in match order, as the servers printed them, with what they mean and whether they match anything. */
import type { RulesFrame } from '#core/api/frames.ts'
import { isOurs } from '#core/control/desired-rule.ts'
import { getParamCommand, setParamCommand } from '#core/lustre/lctl.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { splitConditions } from '#core/tbf/conditions.ts'
import { TBF_RULE } from '../../cluster/collector.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { jobColumn } from '../../cluster/recent.ts'
import { orZero, RATE_SAMPLES, stand } from './position.ts'

const SPARK_POINTS = 40

interface Merged {
  readonly name: string
  readonly conditions: string
  readonly lines: { host: string; line: RuleLine }[]
  readonly cpts: Map<string, Set<number>>
}

/** Rules of the shown servers, the first server's order first; a rule is one row for all CPTs and servers. */
function merge(servers: readonly { host: string; rules: readonly RuleLine[] }[], queue: 'reg' | 'hp'): Merged[] {
  const rows = new Map<string, Merged>()
  for (const { host, rules } of servers) {
    for (const line of rules) {
      if (line.queue !== queue) continue
      // Ours are called differently on every server; those of others are told apart by their names too.
      const key = `${isOurs(line.name) ? '' : line.name}\u0000${line.conditions}`
      const row: Merged = rows.get(key) ?? { name: line.name, conditions: line.conditions, lines: [], cpts: new Map() }
      rows.set(key, row)
      row.lines.push({ host, line })
      row.cpts.set(host, (row.cpts.get(host) ?? new Set()).add(line.cpt))
    }
  }
  const all = [...rows.values()]
  // `default` is last in every server's list; merging must not move it up.
  return [...all.filter((r) => r.name !== 'default'), ...all.filter((r) => r.name === 'default')]
}

export function rulesFrame(
  monitor: ClusterMonitor,
  query: { at: number | null; node: string; queue: 'reg' | 'hp' },
  seq: number,
): RulesFrame {
  const { sample, atMs } = stand(monitor, query.at)
  const nodes = monitor.servers
  const node = nodes.includes(query.node) ? query.node : ''
  const texts = nodes
    .filter((n) => node === '' || n === node)
    .map((host) => ({ host, kept: monitor.recent.rulesAt(host, sample) }))
  const servers = texts.map(({ host, kept }) => ({ host, rules: parseNrsTbfRule(kept?.text ?? '').rules }))
  const cpts = new Set(servers.flatMap((s) => s.rules.map((r) => r.cpt))).size
  const { jobs } = monitor.recent.raw
  const rpcs = jobColumn('rpcs')
  const rows = merge(servers, query.queue).map((m): RulesFrame['rows'][number] => {
    const expressions = (splitConditions(m.conditions) ?? []).map((e) => ({ ...e, items: [...e.items] }))
    const only = expressions.length === 1 && expressions[0]?.field === 'jobid' ? expressions[0].items : []
    const jobId = only.length === 1 && !only[0]?.includes('*') ? only[0] : undefined
    const rates = m.lines.map((l) => l.line.rate)
    const ceiling = [...m.cpts].reduce((sum, [host, set]) => {
      return sum + set.size * (m.lines.find((l) => l.host === host)?.line.rate ?? 0)
    }, 0)
    const served = jobId === undefined ? NaN : jobs.mean(jobId, rpcs, sample, RATE_SAMPLES)
    const bytes =
      jobId === undefined
        ? NaN
        : jobs.mean(jobId, jobColumn('readBps'), sample, RATE_SAMPLES) +
          jobs.mean(jobId, jobColumn('writeBps'), sample, RATE_SAMPLES)
    const { from, step } = sample === 0 ? { from: 1, step: 1 } : jobs.window(sample, 20_000, SPARK_POINTS)
    const lease = m.lines.map((l) => monitor.loop.lease(l.host)?.state).find((s) => s !== undefined)
    const ours = isOurs(m.name)
    return {
      name: m.name,
      conditions: m.conditions,
      expressions,
      rateMin: Math.min(...rates),
      rateMax: Math.max(...rates),
      ceiling,
      ceilingBps: served > 0 ? (ceiling * bytes) / served : null,
      ref: m.lines.reduce((n, l) => n + l.line.ref, 0),
      refZeroMs: null,
      used: jobId === undefined || ceiling === 0 ? null : orZero(served) / ceiling,
      spark: jobId === undefined || sample === 0 ? [] : jobs.downsample(jobId, rpcs, from, sample, step),
      owner: m.name === 'default' ? 'lustre' : ours ? 'sluice' : 'other',
      ...(jobId === undefined ? {} : { jobId }),
      expiresMs: ours && lease ? monitor.source.toUnixMs(lease.expiresNs) : null,
      createdMs: ours && lease ? monitor.source.toUnixMs(lease.createdNs) : null,
      servers: new Set(m.lines.map((l) => l.host)).size,
      serversTotal: servers.length,
    }
  })
  const shown = texts[0]
  const text = shown?.kept?.text ?? ''
  return {
    seq,
    sample,
    atMs,
    nodes: [...nodes],
    node,
    queue: query.queue,
    policy: shown?.kept?.policy ?? '',
    cpts,
    rows,
    plans: texts.flatMap(({ host }) => {
      const o = monitor.loop.outcome(host)
      if (!o || (atMs !== null && o.atMs > atMs)) return []
      const literal = (c: { value: string }): string => setParamCommand(TBF_RULE, c.value)
      return [
        {
          node: host,
          atMs: o.atMs,
          state: o.state,
          detail: o.detail,
          diff: [...o.plan.diff],
          commands: o.plan.commands.map(literal),
          inverse: o.plan.inverse.map(literal),
        },
      ]
    }),
    server: {
      node: shown?.host ?? '',
      command: getParamCommand(TBF_RULE),
      text: text === '' ? '' : `${TBF_RULE}=\n${text}`,
      exit: text === '' ? 19 : 0,
    },
  }
}

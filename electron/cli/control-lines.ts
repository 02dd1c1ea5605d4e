/** Output of `sluice control`: one line per sample. */
import { NS_PER_MS } from '#core/base/units.ts'
import type { ControlLag } from '#core/control/controller.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { ServerPeriodFrame } from '#core/api/periods.ts'
import { literals } from '../base/connection.ts'
import { placeOf, SERVICES } from '../base/service.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { shareColumn, shareName } from '../cluster/state/recent.ts'
import { rulesIn } from '../host/rules/servers.ts'
import { plain } from './output.ts'
import { unreadIn } from './watch.ts'

type Missing = Parameters<typeof unreadIn>[2]

interface Allocated {
  readonly job_id: string
  /** Tokens of the next period; absent for a job without an allocation. */
  readonly tokens?: number
  readonly record?: number
}

function allocatedOn(monitor: ClusterMonitor, target: string): Allocated[] {
  const { shares } = monitor.recent
  const value = (jobId: string, column: 'tokens' | 'record'): number =>
    shares.value(shareName(jobId, target), shareColumn(column), monitor.sample)
  return [...monitor.jobs.all].flatMap(({ jobId }) => {
    const tokens = value(jobId, 'tokens')
    const record = value(jobId, 'record')
    if (Number.isNaN(tokens) && (Number.isNaN(record) || record === 0)) return []
    return [
      {
        job_id: jobId,
        ...(Number.isNaN(tokens) ? {} : { tokens }),
        ...(Number.isNaN(record) ? {} : { record }),
      },
    ]
  })
}

/** Age of the counters at the decision, and when the rules before it came into force in its period, ms. */
const lagOf = ({ ageNs, write }: ControlLag): object => ({
  age_ms: ageNs / NS_PER_MS,
  ...(write && { in_force_ms: [write.leastNs / NS_PER_MS, write.mostNs / NS_PER_MS] }),
})

/** Controller rules in force on a server after the period, and the latest plan with any commands. */
function rulesOn(monitor: ClusterMonitor, host: string): object {
  const place = placeOf(host, 'ost_io')
  const text = monitor.recent.rulesAt(place, monitor.sample)
  const rules = (text ? rulesIn(monitor, place, text) : []).filter(
    (r) => r.queue === 'reg' && r.cpt === 0 && isControllerRule(r.name),
  )
  const outcome = monitor.loop.outcome(host)
  return {
    host,
    rules: rules.map(({ name, conditions: match, rate }) => ({ name, match, rate })),
    ...(outcome && {
      plan: {
        t: outcome.atMs / 1000,
        state: outcome.state,
        detail: outcome.detail,
        ...(outcome.putOff ? { put_off: outcome.putOff } : {}),
        commands: outcome.plan.commands.map((c) => c.value),
      },
    }),
  }
}

/** Control period of a server. Durations in ms, means of recent periods; jitter and misses of the last minute. */
function periodJson({ host, setMs, runMs, why, timesMs, ...p }: ServerPeriodFrame): object {
  return {
    host,
    own_clock: p.hasOwnClock,
    set_ms: setMs,
    run_ms: runMs,
    ...(why === '' ? {} : { why }),
    periods: p.periods,
    missed: p.missed,
    ...(p.p50Ms === null ? {} : { p50_ms: p.p50Ms }),
    ...(p.p99Ms === null ? {} : { p99_ms: p.p99Ms }),
    ...(timesMs && {
      collect_ms: timesMs.collect,
      decide_ms: timesMs.decide,
      write_ms: timesMs.write,
      read_back_ms: timesMs.readBack,
    }),
  }
}

/** Control period of a server for a terminal; empty while it is controlled with the samples. */
function periodOf(monitor: ClusterMonitor, host: string): string {
  const p = monitor.serverPeriods.find((s) => s.host === host)
  if (!p?.hasOwnClock) return ''
  const late = p.missed === 0 ? '' : `, ${p.missed} missed`
  return `, every ${p.runMs} ms${p.p99Ms === null ? '' : ` (p99 ${Math.round(p.p99Ms)} ms${late})`}`
}

export function periodLine(monitor: ClusterMonitor, missing: Missing): object {
  const { loop, targets, sample } = monitor
  const unread = unreadIn(monitor, sample, missing)
  const records = new Map<string, number>()
  const decisions = targets.map(({ target, node }) => {
    const allocations = allocatedOn(monitor, target)
    for (const a of allocations) records.set(a.job_id, (records.get(a.job_id) ?? 0) + (a.record ?? 0))
    const lag = loop.controllers.report(target)?.lag
    return { target, node, allocations, ...(lag && { lag: lagOf(lag) }) }
  })
  return {
    t: monitor.nowMs() / 1000,
    sample,
    source: monitor.source.kind,
    mode: loop.mode,
    controller: loop.controller,
    ...(loop.clearing.isOn ? { job_stats_cleared: loop.clearing.clears } : {}),
    ...(loop.shadowRemainingNs > 0 ? { shadow_left_s: Math.round(loop.shadowRemainingNs / 1e8) / 10 } : {}),
    decisions: loop.mode === 'observe' ? [] : decisions,
    rules: monitor.servers.map((host) => rulesOn(monitor, host)),
    ...(monitor.serverPeriods.length === 0 ? {} : { periods: monitor.serverPeriods.map(periodJson) }),
    records: loop.mode === 'observe' ? {} : Object.fromEntries(records),
    ...(unread.length === 0 ? {} : { partial: true, missing: unread }),
    ...(monitor.failures.length === 0
      ? {}
      : { failures: monitor.failures.map(({ code, what, why }) => ({ code, what, why })) }),
  }
}

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 21)

/** Literal commands of the latest plan of a server, as they would be sent. */
function planLines(monitor: ClusterMonitor, host: string): string[] {
  const outcome = monitor.loop.outcome(host)
  if (!outcome) return []
  const commands = outcome.plan.commands.map((c) => setParamCommand(SERVICES.ost_io.rules, c.value))
  return [`  ${host}, plan of ${clock(outcome.atMs)}`, ...literals(monitor.node(host), commands).map((c) => `    ${c}`)]
}

/** Formats one period for a terminal: one line, and in advise mode the commands of each server's plan below it. */
export function periodText(monitor: ClusterMonitor, missing: Missing): string {
  const { loop, servers } = monitor
  const per = servers.map((host) => {
    const { rules } = rulesOn(monitor, host) as { rules: unknown[] }
    const outcome = loop.outcome(host)
    const plan = outcome ? `, ${outcome.plan.commands.length} ${outcome.state}` : ''
    return `${host} ${rules.length} rules${plan}${periodOf(monitor, host)}`
  })
  const shadow = loop.shadowRemainingNs > 0 ? `, shown only for ${Math.ceil(loop.shadowRemainingNs / 1e9)} s` : ''
  const silent = unreadIn(monitor, monitor.sample, missing).map((m) => `${m.host} missing: ${m.reason}`)
  const failures = monitor.failures.map((f) => f.what)
  const head = `${clock(monitor.nowMs())}  ${loop.controller} ${loop.mode}${shadow}  ${[...per, ...silent, ...failures].join('; ')}`
  const plans = loop.mode === 'advise' ? servers.flatMap((host) => planLines(monitor, host)) : []
  return [head, ...plans].map(plain).join('\n')
}

/** Status frame of the window: source, clock, mode, monitoring overhead, problems. */
import type { Notice, StatusFrame } from '#core/api/frames.ts'
import { plural } from '#core/base/figure-text.ts'
import type { Failure } from '#core/base/result.ts'
import type { WaitingRecords } from '../../base/audit.ts'
import type { Console } from '../console.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { RunningPeriod } from '../../cluster/read/sampling-period.ts'
import { adaptbfStatus, cycleFrame } from './adaptbf.ts'
import { rulesKnownAt, resolvePosition } from '../position.ts'

export const toNotice = (f: Failure): Notice => ({
  code: f.code,
  what: f.what,
  ...(f.why === undefined ? {} : { why: f.why }),
  ...(f.unaffected === undefined ? {} : { unaffected: f.unaffected }),
  ...(f.next === undefined ? {} : { next: f.next }),
})

/** Sampling period if it is longer than configured. */
export function longerPeriod(monitor: ClusterMonitor | undefined): { period?: RunningPeriod } {
  const period = monitor?.period
  return period && period.runMs > period.setMs ? { period } : {}
}

function periodsOf({ serverPeriods }: ClusterMonitor): Pick<StatusFrame, 'periods'> {
  return serverPeriods.length === 0 ? {} : { periods: [...serverPeriods] }
}

/** Notice of removals that are not recorded yet. */
export function auditNotice(waiting: WaitingRecords | undefined): Failure | undefined {
  if (!waiting) return undefined
  const count = waiting.records.length + waiting.dropped
  return {
    code: 'AUDIT_WAITS',
    what: `${plural(count, 'record')} of the audit ${count === 1 ? 'is' : 'are'} not written yet`,
    why: waiting.why,
    unaffected: 'Rules of Sluice can be removed; nothing new is enforced.',
    next: 'Free space in the data folder, or make it writable, before Sluice is closed: until then they are in memory only.',
  }
}

export function statusFrame(console: Console, query: { at: number | null }, seq: number): StatusFrame {
  const { monitor, facts, ruleService, alerts } = console
  const { sample, atMs } = resolvePosition(monitor, query.at)
  const failures = [
    monitor.history.notice,
    facts.recordFault,
    auditNotice(monitor.audit.waiting),
    ...monitor.failures,
    alerts?.notice(),
  ].filter((f) => f !== undefined)
  return {
    seq,
    sample,
    atMs,
    source: {
      kind: monitor.source.kind,
      cluster: monitor.source.cluster,
      env: facts.env,
      ...(facts.scenario === undefined ? {} : { scenario: facts.scenario }),
      ...(facts.seed === undefined ? {} : { seed: facts.seed }),
      sinceMs: facts.sinceMs,
    },
    oldest: sample === 0 ? 0 : monitor.recent.raw.totals.oldest,
    clock: {
      speed: facts.speed(),
      achieved: facts.achieved(),
      intervalMs: monitor.intervalNs / 1e6,
      ...longerPeriod(monitor),
      sampleAgeMs: monitor.sampledWallMs === undefined ? null : performance.now() - monitor.sampledWallMs,
    },
    mode: monitor.loop.mode,
    safeMode: facts.safeMode(),
    unlockedUntilMs: facts.unlockedUntilMs(),
    nextExpiry: ruleService.rules.nextStop(monitor.nowMs()) ?? null,
    controller: monitor.loop.controller,
    adaptbf: adaptbfStatus(monitor),
    cycle: cycleFrame(monitor, sample),
    ...periodsOf(monitor),
    nodes: {
      total: monitor.allServers.length,
      reporting: monitor.allServers.length - monitor.missing.size,
      missing: [...monitor.missing].map(([host, m]) => ({ host, ...m })),
    },
    counts: {
      jobs: monitor.jobs.size,
      targets: monitor.targets.length,
      rules: rulesKnownAt(monitor, sample),
    },
    cost: { bytesPerSec: monitor.cost.bytesPerSec, serverMsPerSec: monitor.cost.serverMsPerSec },
    ...(facts.otherLeases && { otherLeases: [...facts.otherLeases()] }),
    audit: monitor.audit.number,
    staged: ruleService.staged.count,
    history: {
      recording: monitor.isRecording,
      ...(monitor.history.file === ':memory:' ? {} : { file: monitor.history.file }),
    },
    ...(alerts && { alerts: alerts.list() }),
    notices: failures.map(toNotice),
  }
}

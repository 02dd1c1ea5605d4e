/**
 * Time compression: a scenario whose slow clocks run k times as fast, so that a k-th of the time covers all of it.
 *
 * Requests, networks, disks and rates stay as they are. Divided by k are phases, intervals between bursts (and the RPCs
 * of a burst, so that the load stays), starts and stops, faults, control periods, leases, intervals and timed policies
 * of PADLL, changes of data nodes, and a job's total work. Periods of data nodes are the unit of their tokens, and
 * stay. A run of seconds / k then shows the same queueing, rates and shares, and each of its RPCs represents k: counts
 * and series are multiplied by k, waits are not.
 *
 * Not preserved: a wait longer than a compressed phase, burst interval or control period ends too soon, bursts are
 * smaller, and a controller sees k times fewer RPCs in a period, so its tokens are coarser. With k = 1 nothing changes.
 */
import type { JobScenario, Scenario } from '../emulator/scenario.ts'
import { PERIOD_MIN_NS } from '../adaptbf/period.ts'
import { NS_PER_MS } from '../base/units.ts'
import { parsePolicies } from '../padll/rules/policy-schedule.ts'
import type { Policy } from '../padll/rules/policy.ts'
import { printPolicyYaml } from '../padll/rules/policy-yaml.ts'
import type { Variant } from './variant.ts'

/** Shortest phase of a scenario, s. */
const PHASE_MIN_S = 0.01
const PERIOD_MIN_MS = PERIOD_MIN_NS / NS_PER_MS

/** @param k  whole, >= 1. */
export function thinned(scenario: Scenario, k: number): Scenario {
  if (k === 1) return scenario
  const { control, padll, ccpfs } = scenario
  return {
    ...scenario,
    jobs: scenario.jobs.map((j) => thinnedJob(j, k)),
    control: { ...control, period_ms: periodOf(control.period_ms, k) },
    faults: scenario.faults.map((f) => ({ ...f, ...window(f, k) })),
    haechi: scenario.haechi.map((n) => thinnedNode(n, k)),
    ...(padll ? { padll: thinnedPadll(padll, k) } : {}),
    ...(ccpfs ? { ccpfs: thinnedCcpfs(ccpfs, k) } : {}),
  }
}

/** Adapts a variant to a thinned scenario. */
export const thinnedVariant = (variant: Variant, k: number): Variant =>
  k === 1
    ? variant
    : {
        ...variant,
        onS: variant.onS / k,
        periodMs: variant.periodMs === null ? null : periodOf(variant.periodMs, k),
      }

const periodOf = (ms: number, k: number): number => Math.max(PERIOD_MIN_MS, Math.round(ms / k))

/** Start and duration. */
const window = (f: { at_s: number; for_s?: number | undefined }, k: number): { at_s: number; for_s?: number } => ({
  at_s: f.at_s / k,
  ...(f.for_s === undefined ? {} : { for_s: f.for_s / k }),
})

function thinnedJob(job: JobScenario, k: number): JobScenario {
  const { start_s, stop_s, total_rpcs } = job
  return {
    ...job,
    pattern: thinnedPattern(job.pattern, k),
    start_s: start_s / k,
    ...(stop_s === undefined ? {} : { stop_s: stop_s / k }),
    ...(total_rpcs === undefined ? {} : { total_rpcs: Math.max(1, Math.round(total_rpcs / k)) }),
  }
}

function thinnedPattern(pattern: JobScenario['pattern'], k: number): JobScenario['pattern'] {
  if (pattern.kind === 'bursts') {
    // A burst has whole RPCs: if it has fewer than k, the interval is divided by the actual ratio of RPCs.
    const rpcs = Math.max(1, Math.round(pattern.rpcs / k))
    return { ...pattern, rpcs, every_s: (pattern.every_s * rpcs) / pattern.rpcs }
  }
  if (pattern.kind !== 'phases') return pattern
  return { ...pattern, phases: pattern.phases.map((p) => ({ ...p, for_s: Math.max(PHASE_MIN_S, p.for_s / k) })) }
}

function thinnedNode(node: Scenario['haechi'][number], k: number): Scenario['haechi'][number] {
  return {
    ...node,
    clients: node.clients.map((c) => ({
      ...c,
      start_s: c.start_s / k,
      ...(c.leave_s === undefined ? {} : { leave_s: c.leave_s / k }),
      ...(c.crash_s === undefined ? {} : { crash_s: c.crash_s / k }),
    })),
    capacity: node.capacity.map((c) => ({ ...c, at_s: c.at_s / k })),
    changes: node.changes.map((c) => ({ ...c, at_s: c.at_s / k })),
  }
}

function thinnedPadll(padll: NonNullable<Scenario['padll']>, k: number): NonNullable<Scenario['padll']> {
  return {
    ...padll,
    interval_ms: Math.max(50, Math.round(padll.interval_ms / k)),
    policies: thinnedPolicies(padll.policies, k),
    lease: { ...padll.lease, seconds: Math.max(1, padll.lease.seconds / k) },
    faults: padll.faults.map((f) => ({ ...f, ...window('for_s' in f ? f : { at_s: f.at_s }, k) })),
  }
}

/** Moves steps of policies to a k-th of their seconds; of steps that fall into one second the last applies. */
function thinnedPolicies(text: string, k: number): string {
  const { policies } = parsePolicies(text)
  if (policies.every((p) => p.atS === 0)) return text
  const squeezed = new Map<string, Policy>()
  for (const p of policies.toSorted((a, b) => a.atS - b.atS)) {
    const step = { ...p, atS: Math.floor(p.atS / k) }
    squeezed.set(JSON.stringify([step.kind, step.job, step.scope, step.atS]), step)
  }
  return printPolicyYaml([...squeezed.values()])
}

function thinnedCcpfs(ccpfs: NonNullable<Scenario['ccpfs']>, k: number): NonNullable<Scenario['ccpfs']> {
  return {
    ...ccpfs,
    revocation_timeout_s: Math.max(0.05, ccpfs.revocation_timeout_s / k),
    workloads: ccpfs.workloads.map((w) => ({
      ...w,
      start_s: w.start_s / k,
      ...(w.stop_s === undefined ? {} : { stop_s: w.stop_s / k }),
    })),
    faults: ccpfs.faults.map((f) => ({ ...f, ...window(f, k) })),
  }
}

/**
 * Facts that a fork takes from the source besides its series: servers, rules in force, control settings, durations of
 * metadata operations.
 */
import { isControllerRule } from '#core/controllers/registry.ts'
import { isSuperseded } from '#core/padll/status.ts'
import { jobColumnOf, jobSeries } from '../../cluster/metadata/padll-series.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { ForkInputs, ForkMdt, ForkRule, ForkServer } from '#core/sandbox/fork-inputs.ts'
import { EmulatedSource } from '../../cluster/emulated-source.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { policyOf } from '../../cluster/control/sample.ts'
import { placeOf, SERVICES } from '../../base/service.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'

/** Rate of the built-in rule unless changed. */
const DEFAULT_RATE = 10_000

/**
 * Servers that were read at least once, with the policy at a sample; a server of data and metadata has one entry for
 * each.
 */
export function serversOf(monitor: ClusterMonitor, sample: number): ForkServer[] {
  const found = (['ost_io', 'mdt'] as const).flatMap((service) =>
    monitor.serversOf(service).flatMap((name): ForkServer[] => {
      const reading = monitor.reading(name, service)
      if (!reading) return []
      const recentRules = monitor.recent.rulesAt(placeOf(name, service), sample)
      const rules = recentRules ? parseNrsTbfRule(recentRules.text).rules : reading.rules
      return [
        {
          name,
          kind: service === 'ost_io' ? 'oss' : 'mds',
          version: reading.version?.text,
          cpts: rules.length > 0 ? Math.max(...rules.map((r) => r.cpt)) + 1 : undefined,
          policy: recentRules?.policy ?? policyOf(reading),
        },
      ]
    }),
  )
  // CPTs belong to the machine: rules of either role show their number.
  return found.map((s) => ({
    ...s,
    cpts: s.cpts ?? found.find((o) => o.name === s.name && o.cpts !== undefined)?.cpts,
  }))
}

/** Commands that recreate a rule list, without the rules of Sluice's controllers. */
export function ruleLines(rules: readonly RuleLine[]): { lines: string[]; controllerRules: number } {
  const hp = new Set(rules.filter((r) => r.queue === 'hp' && r.cpt === 0).map((r) => r.name))
  const reg = rules.filter((r) => r.queue === 'reg' && r.cpt === 0)
  const controllerRules = reg.filter((r) => isControllerRule(r.name)).length
  const lines = reg
    .filter((r) => !isControllerRule(r.name))
    .flatMap((r) => {
      if (r.name === 'default') return r.rate === DEFAULT_RATE ? [] : [`change default rate=${r.rate}`]
      return [`${hp.has(r.name) ? '' : 'reg '}start ${r.name} ${r.conditions} rate=${r.rate}`]
    })
  // A started rule is inserted before the others, so the last of the list is written first.
  return { lines: lines.reverse(), controllerRules }
}

/** Servers with equal lists share their rules. */
export function groupRules(service: ServiceName, lists: ReadonlyMap<string, readonly string[]>): ForkRule[] {
  const groups = new Map<string, { lines: readonly string[]; servers: string[] }>()
  for (const [server, lines] of lists) {
    const key = lines.join('\n')
    const group = groups.get(key)
    if (group) group.servers.push(server)
    else groups.set(key, { lines, servers: [server] })
  }
  return [...groups.values()].flatMap(({ lines, servers }) => lines.map((line) => ({ service, line, servers })))
}

export function rulesAt(monitor: ClusterMonitor, sample: number): Pick<ForkInputs, 'rules' | 'controllerRules'> {
  const rules: ForkRule[] = []
  let controllerRules = 0
  for (const service of Object.keys(SERVICES) as ServiceName[]) {
    const lists = new Map<string, readonly string[]>()
    for (const host of monitor.serversOf(service)) {
      const recentRules = monitor.recent.rulesAt(placeOf(host, service), sample)
      const read = recentRules
        ? parseNrsTbfRule(recentRules.text).rules
        : (monitor.serviceReading(host, service)?.rules ?? [])
      const written = ruleLines(read)
      controllerRules += written.controllerRules
      if (written.lines.length > 0) lists.set(host, written.lines)
    }
    rules.push(...groupRules(service, lists))
  }
  return { rules, controllerRules }
}

export function controlOf(monitor: ClusterMonitor): ForkInputs['control'] {
  const { loop, source, metadata } = monitor
  const { algorithm, epsilon, slots, limits, policies } = metadata.settings
  return {
    controller: loop.controller,
    mode: loop.mode,
    maxRate: source.maxRate,
    periodMs: source.periodNs / 1e6,
    options: loop.controllers.options,
    ...(policies === '' && limits.length === 0
      ? {}
      : {
          metadata: {
            algorithm,
            epsilon,
            policies,
            ...(slots === null ? {} : { slots }),
            limits: Object.fromEntries(limits.map((l) => [l.scope, l.rate])),
          },
        }),
  }
}

/** Range of which the demand at PADLL's stages is the mean, ms. */
const PADLL_SPAN_MS = 60_000

/** PADLL's controller at an instant; undefined without one, or without an answer then. */
function padllAt({ padll }: ClusterMonitor, atMs: number): ForkInputs['padll'] {
  const found = padll?.documents.at(atMs)
  if (!padll || !found || isSuperseded(found.status)) return undefined
  const { status } = found
  const { series } = padll
  const to = series.jobs.sampleAt(atMs)
  const from = series.jobs.sampleAt(atMs - PADLL_SPAN_MS)
  const stages = status.locals.flatMap((l) => l.stages)
  const byJob = Map.groupBy(status.jobs, (j) => j.job)
  const askedOf = ({ job, scope, asked }: (typeof status.jobs)[number]): number => {
    const [mean] = series.jobs.downsample(jobSeries(job, scope), jobColumnOf('asked'), from, to, to - from + 1)
    return mean ?? asked
  }
  return {
    controller: status.controller,
    algorithm: status.algorithm,
    epsilon: status.epsilon,
    split: status.split,
    intervalMs: status.intervalMs,
    collectRounds: status.collectRounds,
    leaseS: status.lease.seconds,
    expiryRate: status.lease.onExpiry === 'hold' ? undefined : status.lease.onExpiry.rate,
    limits: status.limits,
    policies: { text: status.policies.text, elapsedS: Math.max(0, (atMs - status.policies.startedMs) / 1000) },
    jobs: [...byJob].map(([job, scopes]) => {
      const own = stages.filter((s) => s.job === job)
      return {
        job,
        user: own[0]?.user ?? '',
        hosts: own.map((s) => s.hostname),
        asked: scopes.reduce((n, j) => n + askedOf(j), 0),
        queued: scopes.reduce((n, j) => n + j.queued, 0),
      }
    }),
  }
}

/** State of the planes besides Lustre at an instant. */
export function planesAt(
  monitor: ClusterMonitor,
  atMs: number,
): Pick<ForkInputs, 'scenario' | 'elapsedS' | 'padll' | 'dataNodes'> {
  const { source } = monitor
  const padll = padllAt(monitor, atMs)
  if (!(source instanceof EmulatedSource)) return { scenario: undefined, padll }
  const { emulator } = source
  return {
    scenario: emulator.scenario,
    elapsedS: Math.max(0, atMs / 1000 - emulator.epochSeconds),
    padll,
    dataNodes: emulator.dataNodes.map((d) => ({
      name: d.name,
      variant: d.variant,
      preset: d.preset,
      iops: d.capacityIops,
      clients: d.present,
    })),
  }
}

/** Number of metadata operations of every job since its entries began, by counter. */
export function metadataCounters(monitor: ClusterMonitor): Map<string, Map<string, number>> {
  const out = new Map<string, Map<string, number>>()
  for (const host of monitor.serversOf('mdt')) {
    for (const { entries } of monitor.reading(host, 'mdt')?.targets ?? []) {
      for (const e of entries) {
        let sums = out.get(e.jobId)
        if (!sums) out.set(e.jobId, (sums = new Map<string, number>()))
        for (const [name, c] of e.counters) if (c.samples > 0) sums.set(name, (sums.get(name) ?? 0) + c.samples)
      }
    }
  }
  return out
}

/** MDTs with the mean duration of their operations, if their counters include times. */
export function mdtsOf(monitor: ClusterMonitor): ForkMdt[] {
  return monitor.serversOf('mdt').flatMap((server) =>
    (monitor.reading(server, 'mdt')?.targets ?? []).map(({ target, entries }): ForkMdt => {
      let usecs = 0
      let n = 0
      for (const e of entries) {
        for (const c of e.counters.values()) {
          if (c.unit !== 'usecs' || c.sum <= 0) continue
          usecs += c.sum
          n += c.samples
        }
      }
      return { name: target, server, perOpUs: n > 0 ? usecs / n : NaN }
    }),
  )
}

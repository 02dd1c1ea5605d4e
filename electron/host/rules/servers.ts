/** Servers of a service for the planner, and the jobs that use them, at the newest sample. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import { ended, type Steps } from '#core/base/steps.ts'
import { opcodesOf, type LiveJob } from '#core/control/live-job.ts'
import { serverRules, type ServerRules } from '#core/control/server-rules.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { profileOf } from '#core/lustre/profile.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { Job } from '../../cluster/state/job-registry.ts'
import { jobColumn, type RuleText } from '../../cluster/state/recent.ts'
import { placeOf } from '../../base/service.ts'
import { rateSamples } from '../position.ts'
import type { OperatorRules } from './operator-rules.ts'

/** Parsed rules of each server (or service, `placeOf`) at the last reading, by cluster. */
type Parsed = ReturnType<typeof parseNrsTbfRule> & { readonly text: RuleText }
const parsed = new WeakMap<ClusterMonitor, Map<string, Parsed>>()

function parsedIn(monitor: ClusterMonitor, host: string, text: RuleText): Parsed {
  const of = parsed.get(monitor) ?? new Map<string, Parsed>()
  parsed.set(monitor, of)
  let known = of.get(host)
  if (known?.text !== text) of.set(host, (known = { text, ...parseNrsTbfRule(text.text) }))
  return known
}

/** A rate older than this is not current, s. */
const KNOWN_BACK_S = 60

/** Rules of a server from a kept text; several views request the same one. */
export const rulesIn = (monitor: ClusterMonitor, host: string, text: RuleText): readonly RuleLine[] =>
  parsedIn(monitor, host, text).rules

/** Longest shown line of a rule list; the full answer is shown beside the list. */
const LINE_MAX = 200
/**
 * Lines of a server's list that are not rules: the first of them, and the number of parsed rules; undefined if all were
 * parsed.
 */
export function unreadIn(monitor: ClusterMonitor, host: string, text: RuleText) {
  const { skipped, rules } = parsedIn(monitor, host, text)
  const [first] = skipped
  if (!first) return undefined
  const excerpt = (text.text.split('\n')[first.line - 1] ?? '').slice(0, LINE_MAX)
  // A rule is listed once per CPT.
  return { line: first.line, text: excerpt, lines: skipped.length, rules: new Set(rules.map((r) => r.name)).size }
}

/** Servers that answered, with their rules after the controller's last write. */
export function presentServers(monitor: ClusterMonitor, service: ServiceName, rules: OperatorRules): ServerRules[] {
  return monitor.serversOf(service).flatMap((host) => {
    const reading = monitor.missing.has(host) ? undefined : monitor.serviceReading(host, service)
    if (!reading) return []
    const place = placeOf(host, service)
    const text = monitor.recent.rulesAt(place, monitor.sample)
    const lines = text ? rulesIn(monitor, place, text) : reading.rules
    return serverRules(host, reading.policies, lines, profileOf(monitor.reading(host)?.version), {
      realtime: rules.realtime(service, host),
    })
  })
}

/**
 * Rate of a job on a service, over the last second: RPCs on OSTs. On MDTs job_stats counts operations, of which one RPC
 * may be several (a create is an open and a mknod).
 */
export function rateOf(monitor: ClusterMonitor, service: ServiceName, jobId: string): number {
  const column = jobColumn(service === 'ost_io' ? 'rpcs' : 'mdops')
  const { jobs } = monitor.recent.raw
  const n = rateSamples(monitor)
  const now = jobs.mean(jobId, column, monitor.sample, n)
  if (!Number.isNaN(now)) return now
  // While a server that it uses is late or silent, its last known rate applies.
  const far = monitor.sample - Math.ceil((KNOWN_BACK_S * NS_PER_S) / monitor.source.periodNs)
  for (let s = monitor.sample - 1; s >= Math.max(jobs.oldest, far, 1); s--) {
    const v = jobs.value(jobId, column, s)
    if (!Number.isNaN(v)) return v
  }
  return 0
}

/** Mean rates of trials: the usual time window of the views, and of proposed limits. */
const MEAN_S = 300
/** A job with RPCs in this time is live: bursts are seconds apart. */
const LIVE_S = 10

/**
 * Mean rate of a live job over the last five minutes, or since it was first seen; 0 without RPCs in the last seconds. A
 * single second would be a burst, or a pause.
 */
export function meanRateOf(monitor: ClusterMonitor, service: ServiceName, { jobId, firstSeenMs }: Job): number {
  const column = jobColumn(service === 'ost_io' ? 'rpcs' : 'mdops')
  const { seconds } = monitor.recent
  const { jobs } = seconds
  const now = rateOf(monitor, service, jobId)
  const known = Math.min(MEAN_S, Math.ceil((monitor.nowMs() - firstSeenMs) / 1000))
  if (jobs.newest === 0 || known <= LIVE_S) return now
  if (now === 0 && !(jobs.mean(jobId, column, jobs.newest, LIVE_S) > 0)) return 0
  const mean = jobs.mean(jobId, column, jobs.newest, known)
  return Number.isNaN(mean) ? now : mean
}

/**
 * Text about a server that does not answer, with the age of its last reading; undefined for one that does, or is not
 * part of the cluster.
 */
export function silentText(monitor: ClusterMonitor, host: string): string | undefined {
  if (!monitor.node(host) || (!monitor.missing.has(host) && monitor.reading(host))) return undefined
  const ageMs = monitor.ageMs(host)
  const since = ageMs === undefined ? 'it was not read yet' : `its last reading is ${Math.round(ageMs / 1000)} s old`
  return `${host} does not answer: ${since}`
}

/** Targets of a job, valid until it is seen on another one. */
interface Reached {
  readonly size: number
  readonly targets: readonly string[]
  readonly servers: readonly string[]
}
interface Places {
  readonly hostOf: ReadonlyMap<string, string>
  readonly of: WeakMap<Job, Reached>
}
/** Places by cluster and service, valid while the servers' targets are unchanged. */
const places = new WeakMap<ClusterMonitor, Map<ServiceName, Places>>()

function placesOf(monitor: ClusterMonitor, service: ServiceName): Places {
  const hostOf = new Map<string, string>()
  for (const host of monitor.serversOf(service)) {
    for (const t of monitor.reading(host, service)?.targets ?? []) hostOf.set(t.target, host)
  }
  const known = places.get(monitor) ?? new Map<ServiceName, Places>()
  places.set(monitor, known)
  const was = known.get(service)
  if (was?.hostOf.size === hostOf.size && [...hostOf].every(([t, host]) => was.hostOf.get(t) === host)) return was
  const now = { hostOf, of: new WeakMap<Job, Reached>() }
  known.set(service, now)
  return now
}

function reachedBy(job: Job, { hostOf, of }: Places): Reached {
  const size = job.targets.size
  let known = of.get(job)
  // Targets are only added to a job, never removed.
  if (known?.size === size) return known
  const targets = [...job.targets].filter((t) => hostOf.has(t))
  known = { size, targets, servers: [...new Set(targets.map((t) => hostOf.get(t) as string))] }
  of.set(job, known)
  return known
}

/** Jobs per step. */
const JOBS_AT_ONCE = 512

/** Jobs with RPCs on a service in the last seconds, with their mean rates. */
export const liveJobs = (monitor: ClusterMonitor, service: ServiceName): LiveJob[] =>
  ended(liveJobsInSteps(monitor, service))

/** Same in steps; jobs that start or end between steps may be included or not. */
export function* liveJobsInSteps(monitor: ClusterMonitor, service: ServiceName): Steps<LiveJob[]> {
  const where = placesOf(monitor, service)
  const knowsOwners = monitor.jobIds.refusal === undefined
  const out: LiveJob[] = []
  let looked = 0
  for (const job of monitor.jobs.all) {
    if (++looked % JOBS_AT_ONCE === 0) yield
    const { targets, servers } = reachedBy(job, where)
    if (targets.length === 0) continue
    const rpcs = meanRateOf(monitor, service, job)
    if (rpcs === 0) continue
    out.push({
      jobId: job.jobId,
      nodes: job.nodes,
      // Operations of a second cover both services; a job with no others is certain.
      opcodes: opcodesOf(
        service,
        [...job.lastSecond.ops.keys()].filter((op) => isOpOf(service, op)),
      ),
      servers,
      targets,
      rpcs,
      isSystem: knowsOwners && monitor.jobIds.isSystem(job.jobId, job.user),
      ...(job.hosts.length > 0 ? { hosts: job.hosts } : {}),
    })
  }
  return out
}

const DATA_OPS = new Set([
  'read',
  'write',
  'punch',
  'create',
  'destroy',
  'get_info',
  'set_info',
  'quotactl',
  'prealloc',
])
const METADATA_OPS =
  /^(?:open|close|mknod|link|unlink|mkdir|rmdir|rename|getxattr|setxattr|readpage|readdir|.*_rename|parallel_.*|migrate|fallocate)$/
/** True if job_stats of the service counts the operation; some, such as getattr, are counted by both. */
const isOpOf = (service: ServiceName, op: string): boolean =>
  service === 'ost_io' ? !METADATA_OPS.test(op) : !DATA_OPS.has(op)

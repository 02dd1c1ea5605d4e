/** Remarks on rules based on the current jobs. */
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { TbfType } from '../tbf/tbf-type.ts'
import { Binder, sharesOf, type ShapeCache } from './binding.ts'
import { exactJobIds } from './condition-shape.ts'
import type { Lint } from './lint-codes.ts'
import type { ShapedRule } from './lint-list.ts'
import type { LiveJob } from './live-job.ts'
import { counted, grouped, listed } from './sentence.ts'
import { DEFAULT_RULE } from './server-rules.ts'

/** Number of live jobs from which a wildcard is reported as wide. */
const WIDE_FROM = 10

/** One head with the jobs that send to its servers. */
export interface LiveHead {
  readonly rules: readonly ShapedRule[]
  readonly type: TbfType
  readonly jobs: readonly LiveJob[]
  readonly shapes: ShapeCache
}

/** Relation of a rule to the current jobs. */
interface Reach {
  /** Jobs that it certainly matches, at least in part, and those that it may match. */
  sure: number
  may: number
  /** One of the first, for a remark on a rule with a single job. */
  first: string
  /** True if one of these jobs is bound to it, or may be. */
  isUsed: boolean
  /** Earlier rules that bind the jobs that it matches. */
  readonly takers: Set<string>
  /** Jobs of root or of the system that are bound to it. */
  readonly system: string[]
}

const binderOf = ({ rules, type, shapes }: LiveHead): Binder<RuleLine> =>
  new Binder(
    rules.map((r) => r.line),
    type,
    shapes,
  )

function reaches(head: LiveHead): Map<RuleLine, Reach> {
  const binder = binderOf(head)
  const out = new Map<RuleLine, Reach>()
  for (const job of head.jobs) {
    const matching = binder.matching(job)
    if (matching.size === 0) continue
    const bound = sharesOf(binder.bindJob(job))
    for (const [rule, share] of matching) {
      let r = out.get(rule)
      if (!r) out.set(rule, (r = { sure: 0, may: 0, first: '', isUsed: false, takers: new Set(), system: [] }))
      if (bound.has(rule)) {
        r.isUsed = true
        if (job.isSystem) r.system.push(job.jobId)
      }
      if (share === 'may') {
        r.may++
        continue
      }
      if (r.sure++ === 0) r.first = job.jobId
      if (!r.isUsed) for (const taker of bound.keys()) if (taker) r.takers.add(taker.name)
    }
  }
  return out
}

function wideLint(rule: string, { sure, may }: Reach): Lint[] {
  if (sure + may < 2) return []
  const more = may > 0 ? `may match ${grouped(may)}` : ''
  const text =
    sure === 0 ? `${more} live jobs` : `matches ${counted(sure, 'live job')}${more === '' ? '' : ` and ${more} more`}`
  return [{ code: 'WIDE', level: sure + may >= WIDE_FROM ? 'watch' : 'info', rule, text }]
}

/** Flushing, scrubbing and backups of root are limited by the rule, too. */
const systemLint = (rule: string, jobs: readonly string[]): Lint => ({
  code: 'BINDS_SYSTEM',
  level: 'watch',
  rule,
  text: `limits ${listed(jobs)}: root's jobs, or ids that may be root's`,
})

/**
 * Rules that match many jobs by a wildcard, rules that bind jobs of the system, and rules all of whose live jobs are bound by earlier
 * rules.
 *
 * @param isShadowed  rules that are never used by structure alone.
 */
export function liveLints(
  head: LiveHead,
  isAbout: (rule: string) => boolean,
  isShadowed: (rule: string) => boolean,
): Lint[] {
  const found = reaches(head)
  const out: Lint[] = []
  for (const { line, shape } of head.rules) {
    const reach = found.get(line)
    if (!reach || !shape || !isAbout(line.name)) continue
    const { sure, first, isUsed, takers, system } = reach
    if (system.length > 0 && line.name !== DEFAULT_RULE) out.push(systemLint(line.name, system))
    if (!exactJobIds(shape)) out.push(...wideLint(line.name, reach))
    if (sure === 0 || isUsed || isShadowed(line.name)) continue
    const who = sure === 1 ? `${first} is` : `all ${grouped(sure)} live jobs that it matches are`
    const text = `${who} matched earlier by ${listed([...takers])}`
    out.push({ code: 'SHADOWED_LIVE', level: 'watch', rule: line.name, text })
  }
  return out
}

/**
 * A limited job holds the RPC slots of its clients while it waits, and other jobs on the same clients wait, too, as soon as it has more
 * writers than slots (measured part 2, 8).
 */
export function slotLints(
  head: LiveHead,
  isAbout: (rule: string) => boolean,
  isLimited: (jobId: string) => boolean,
  slots: number,
): Lint[] {
  const onHost = new Map<string, Set<string>>()
  for (const j of head.jobs) {
    for (const h of j.hosts ?? []) {
      const there = onHost.get(h) ?? new Set<string>()
      onHost.set(h, there.add(j.jobId))
    }
  }
  if (onHost.size === 0) return []
  const binder = binderOf(head)
  const out: Lint[] = []
  for (const job of head.jobs) {
    const shared = (job.hosts ?? []).filter((h) => (onHost.get(h)?.size ?? 0) > 1)
    if (shared.length === 0 || !isLimited(job.jobId)) continue
    const rule = [...sharesOf(binder.bindJob(job))].find(([r, share]) => r && share !== 'may')?.[0]
    if (!rule || !isAbout(rule.name)) continue
    const neighbors = new Set(shared.flatMap((h) => [...(onHost.get(h) ?? [])]))
    neighbors.delete(job.jobId)
    const text =
      `${job.jobId} is limited and shares ${counted(shared.length, 'node')} with ${listed([...neighbors])}: ` +
      `with more than ${slots} writers on a node it takes their RPC slots`
    out.push({ code: 'SLOTS_SHARED', level: 'watch', rule: rule.name, text })
  }
  return out
}

/**
 * Proposed limit of one job, before anything is drafted: a fixed rate equal to the job's entitlement, which the host
 * tests against the live jobs. Nothing is staged or sent from here.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { JobFrame, Notice } from '#core/api/frames.ts'
import type { RuleCheck, RuleForm } from '#core/api/rule-edits.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

/** Longest rule name of the servers. */
const NAME_MAX = 15
/** Fraction of the mean rate that is the cap if the entitlement is unknown. */
const FALLBACK_SHARE = 0.5
/**
 * Smallest rate proposed, RPC/s or op/s: below it, clients wait for seconds with every request. A job that sends less is
 * idle, and is not capped.
 */
export const RATE_LEAST = 5
const NOT_TRIED = 'The cap was not tested against the live jobs'

/** `cap_4690` of `4690.python.u1021`. */
export const limitName = (jobId: string): string =>
  `cap_${jobId.split('.')[0] ?? ''}`.replace(/[^A-Za-z0-9_]/g, '_').slice(0, NAME_MAX)
/** Ids that a condition cannot contain have to be written manually. */
export const isWritable = (jobId: string): boolean => jobId !== '' && !/[\s{}&,]/.test(jobId)

export interface Cap {
  /** RPC/s that the cap leaves the job in total. */
  readonly rpcs: number
  /** True if the cap is the entitlement by nodes; else half of the mean rate. */
  readonly isEntitled: boolean
  /** Mean RPC/s of the job over the window, which the cap is computed from. */
  readonly meanRpcs: number
  readonly windowMs: number
}

/** Mean of the known values; null without any. */
export function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((v) => v !== null)
  return known.length === 0 ? null : known.reduce((sum, v) => sum + v, 0) / known.length
}
/** True if a mean rate, RPC/s, is too low to be limited. */
export const isIdle = (meanRate: number): boolean => meanRate < RATE_LEAST

/**
 * Cap of a job from its mean over the window since it was first seen: a single sample is a burst, or a pause. It is the
 * share of its targets' served rate that its nodes entitle it to; half of its mean rate if no ledger has that. null: not
 * measured.
 */
export function capOf(
  { series, firstSeenMs, share, entitled }: Pick<JobFrame, 'series' | 'firstSeenMs' | 'share' | 'entitled'>,
  windowMs: number,
): Cap | null {
  const meanRpcs = meanOf(series.rpcs.filter((_, i) => (series.t[i] ?? 0) >= (firstSeenMs ?? 0)))
  if (meanRpcs === null) return null
  const isEntitled = share !== null && entitled !== null && share > 0
  const rpcs = Math.max(RATE_LEAST, isEntitled ? (meanRpcs / share) * entitled : meanRpcs * FALLBACK_SHARE)
  return { rpcs, isEntitled, meanRpcs, windowMs }
}
/** Each class has its own bucket, so the cap is divided by the number of classes. */
export const ratePerClass = (cap: Pick<Cap, 'rpcs'>, classes: number): number =>
  Math.max(RATE_LEAST, Math.round(cap.rpcs / Math.max(1, classes)))

export const useProposeStore = defineStore('propose', () => {
  const connection = useConnectionStore()
  const jobId = ref<string | null>(null)
  /** Computed when the dialog opens; does not change while it is open. */
  const cap = shallowRef<Cap | null>(null)
  const check = shallowRef<RuleCheck | null>(null)
  const notice = shallowRef<Notice | null>(null)
  const isOpen = computed({ get: () => jobId.value !== null, set: (on) => on || close() })
  let latest = 0

  function open(id: string): void {
    latest++
    cap.value = check.value = notice.value = null
    jobId.value = id
  }
  function close(): void {
    latest++
    jobId.value = null
  }
  const formOf = (id: string, rate: number): RuleForm => ({
    verb: 'start',
    name: limitName(id),
    conditions: `jobid={${id}}`,
    rate: String(rate),
    rank: '',
    realtime: false,
    queue: 'reg',
  })
  /** Computes the cap from the first frame that has data, and tests it unless the job is idle. */
  function measure(frame: JobFrame, windowMs: number): void {
    if (cap.value !== null || frame.jobId !== jobId.value) return
    cap.value = capOf(frame, windowMs)
    if (cap.value && !isIdle(cap.value.meanRpcs)) void tryCap(cap.value)
  }
  /** Tests the cap: first to get the number of classes of the job, then with the resulting rate. */
  async function tryCap(proposed: Cap): Promise<void> {
    const mine = ++latest
    const id = jobId.value
    const host = connection.host
    if (id === null || !isWritable(id)) return
    if (host === null) {
      notice.value = noHost(NOT_TRIED)
      return
    }
    const checkRate = (rate: number): Promise<RuleCheck> =>
      host.api.rules.check({ service: 'ost_io', draft: { form: formOf(id, rate) } })
    try {
      const first = await checkRate(ratePerClass(proposed, 1))
      const answer = await checkRate(ratePerClass(proposed, first.trial?.classes ?? 1))
      if (mine !== latest) return
      check.value = answer
      notice.value = null
    } catch (error) {
      if (mine === latest) notice.value = refusal(NOT_TRIED, error)
    }
  }
  return { jobId, cap, check, notice, isOpen, open, close, measure }
})

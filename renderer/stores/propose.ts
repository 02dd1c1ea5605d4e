/**
 * Proposed limits for one job, before anything is drafted: its static cap at entitlement, tested by the host against
 * the live jobs. Nothing is staged or sent from here.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { JobFrame, Notice } from '#core/api/frames.ts'
import type { RuleCheck, RuleForm } from '#core/api/rule-edits.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

/** Longest rule name of the servers. */
const NAME_MAX = 15
/** Fraction of the current rate used as cap if the entitlement is unknown. */
const LEAVES = 0.5
const NOT_TRIED = 'The cap was not tested against the live jobs'

/** `cap_4690` of `4690.python.u1021`. */
export const limitName = (jobId: string): string =>
  `cap_${jobId.split('.')[0] ?? ''}`.replace(/[^A-Za-z0-9_]/g, '_').slice(0, NAME_MAX)
/** Ids that a condition cannot contain have to be written manually. */
export const isWritable = (jobId: string): boolean => jobId !== '' && !/[\s{}&,]/.test(jobId)

export interface Cap {
  /** RPC/s that the cap leaves the job in total. */
  readonly rpcs: number
  /** True if the cap is the entitlement by nodes; else half of the current rate. */
  readonly isEntitled: boolean
}

/**
 * Cap of a job: the share of its targets' served rate that its nodes entitle it to; half of its current rate if no
 * ledger has that. null: not measured.
 */
export function capOf(frame: Pick<JobFrame, 'rpcs' | 'share' | 'entitled'>): Cap | null {
  const { rpcs, share, entitled } = frame
  if (rpcs === null) return null
  const isEntitled = share !== null && entitled !== null && share > 0
  return { rpcs: Math.max(1, isEntitled ? (rpcs / share) * entitled : rpcs * LEAVES), isEntitled }
}
/** Each class has its own bucket, so the cap is divided by the number of classes. */
export const ratePerClass = (cap: Cap, classes: number): number =>
  Math.max(1, Math.round(cap.rpcs / Math.max(1, classes)))

export const useProposeStore = defineStore('propose', () => {
  const connection = useConnectionStore()
  const jobId = ref<string | null>(null)
  const check = shallowRef<RuleCheck | null>(null)
  const notice = shallowRef<Notice | null>(null)
  const isOpen = computed({ get: () => jobId.value !== null, set: (on) => on || close() })
  let asked = 0

  function open(id: string): void {
    asked++
    check.value = notice.value = null
    jobId.value = id
  }
  function close(): void {
    asked++
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
  /** Tests the cap: first to get the number of classes of the job, then with the resulting rate. */
  async function tryCap(cap: Cap): Promise<void> {
    const mine = ++asked
    const id = jobId.value
    const host = connection.host
    if (id === null || !isWritable(id)) return
    if (host === null) {
      notice.value = noHost(NOT_TRIED)
      return
    }
    const ask = (rate: number): Promise<RuleCheck> =>
      host.api.rules.check({ service: 'ost_io', draft: { form: formOf(id, rate) } })
    try {
      const first = await ask(ratePerClass(cap, 1))
      const answer = await ask(ratePerClass(cap, first.trial?.classes ?? 1))
      if (mine !== asked) return
      check.value = answer
      notice.value = null
    } catch (error) {
      if (mine === asked) notice.value = refusal(NOT_TRIED, error)
    }
  }
  return { jobId, check, notice, isOpen, open, close, tryCap }
})

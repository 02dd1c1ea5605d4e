/**
 * Inputs of a scenario outside the range that the model was fitted on, or outside Lustre's limits: results of their
 * jobs have low confidence. A fork knows the RPC sizes in the load that its devices are fitted on; a written scenario
 * is fitted on nothing, so only Lustre's bounds apply to it.
 */
import { parseDocument, isMap, isSeq } from 'yaml'
import { isData } from '../emulator/operations.ts'
import type { Scenario } from '../emulator/scenario.ts'

/** Largest bulk RPC of a release: 16 MiB (PTLRPC_MAX_BRW_SIZE). */
const RPC_MOST_KIB = 16_384
/** Part of the load at each end that a fit ignores. */
const EDGE = 0.025
/**
 * Service times of sizes up to twice as far are still interpolated well enough: sizes are distinguished by powers of
 * two.
 */
const MARGIN = 2

/** One input outside its bounds. Sizes in KiB. */
export interface Outside {
  readonly jobId: string
  readonly input: 'rpc size'
  readonly value: number
  readonly least: number | null
  readonly most: number
  readonly side: 'below' | 'above'
  /** Ratio to the bound. */
  readonly times: number
  /** fitted: observed range. lustre: limits of servers and clients. */
  readonly bound: 'fitted' | 'lustre'
}

/** Range of sizes that contains nearly all of the observed load, KiB; undefined without data RPCs. */
export function fittedSizes(
  jobs: readonly { readonly kib: number; readonly rpcs: number }[],
): readonly [number, number] | undefined {
  const sized = jobs.filter((j) => j.kib > 0 && j.rpcs > 0).sort((a, b) => a.kib - b.kib)
  const all = sized.reduce((n, j) => n + j.rpcs, 0)
  let seen = 0
  let least: number | undefined
  for (const j of sized) {
    seen += j.rpcs
    if (least === undefined && seen > EDGE * all) least = j.kib
    if (least !== undefined && seen >= (1 - EDGE) * all) return [least, j.kib]
  }
  return undefined
}

/** Returns inputs outside their bounds, in the order of the jobs. */
export function outsideOf({ jobs, fork }: Pick<Scenario, 'jobs' | 'fork'>): Outside[] {
  const [least, most] = fork?.size_kib ?? [null, null]
  return jobs.flatMap((job): Outside[] => {
    if (!job.op.some(isData) || job.size_kib === 0) return []
    const base = { jobId: job.id, input: 'rpc size' as const, value: job.size_kib }
    if (least !== null && job.size_kib * MARGIN < least)
      return [{ ...base, least, most, side: 'below', times: least / job.size_kib, bound: 'fitted' }]
    if (most !== null && job.size_kib > most * MARGIN)
      return [{ ...base, least, most, side: 'above', times: job.size_kib / most, bound: 'fitted' }]
    if (job.size_kib > RPC_MOST_KIB)
      return [
        {
          ...base,
          least: null,
          most: RPC_MOST_KIB,
          side: 'above',
          bound: 'lustre',
          times: job.size_kib / RPC_MOST_KIB,
        },
      ]
    return []
  })
}

/** Returns the text without these jobs; everything else stays, including comments. The text must be YAML. */
export function withoutJobs(text: string, jobIds: ReadonlySet<string>): string {
  const document = parseDocument(text, { uniqueKeys: false })
  const jobs = document.get('jobs')
  if (!isSeq(jobs)) return text
  jobs.items = jobs.items.filter((item) => !isMap(item) || !jobIds.has(String(item.get('id'))))
  return document.toString({ lineWidth: 0 })
}

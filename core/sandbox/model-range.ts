/**
 * Inputs of a scenario that lie outside what the model was fitted on, or outside what Lustre does: what it says of their jobs is a
 * guess. A fork knows the sizes of the RPCs that made up the load its devices are fitted on; a scenario that was written is fitted
 * on nothing, so only the bounds of Lustre itself hold for it.
 */
import { parseDocument, isMap, isSeq } from 'yaml'
import { isData } from '../emulator/operations.ts'
import type { Scenario } from '../emulator/scenario.ts'

/** Largest bulk RPC that a release carries: 16 MiB (PTLRPC_MAX_BRW_SIZE). */
const RPC_MOST_KIB = 16_384
/** Part of the load at each end that a fit does not rest on. */
const EDGE = 0.025
/** Service times of sizes up to twice as far are still interpolated well enough: sizes are told apart by powers of two. */
const MARGIN = 2

/** One input that is outside. Sizes in KiB. */
export interface Outside {
  readonly jobId: string
  readonly input: 'rpc size'
  readonly value: number
  readonly least: number | null
  readonly most: number
  readonly side: 'below' | 'above'
  /** How many times it lies beyond the bound. */
  readonly times: number
  /** fitted: what was observed. lustre: what servers and clients do. */
  readonly bound: 'fitted' | 'lustre'
}

/** Sizes between which nearly all of the observed load lies, KiB; undefined without data RPCs. */
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

/** Inputs that are outside, in the order of the jobs. */
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
          ...{ ...base, least: null, most: RPC_MOST_KIB, side: 'above', bound: 'lustre' },
          times: job.size_kib / RPC_MOST_KIB,
        },
      ]
    return []
  })
}

/** The text without these jobs; everything else of it stays, comments too. The text must be YAML. */
export function leaveOut(text: string, jobIds: ReadonlySet<string>): string {
  const document = parseDocument(text, { uniqueKeys: false })
  const jobs = document.get('jobs')
  if (!isSeq(jobs)) return text
  jobs.items = jobs.items.filter((item) => !isMap(item) || !jobIds.has(String(item.get('id'))))
  return document.toString({ lineWidth: 0 })
}

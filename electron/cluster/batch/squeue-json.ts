/**
 * `squeue --json` of Slurm 21.08 to 24.x. Releases print a number as a number, or as `{set, infinite, number}`; the
 * state as a text or as a list of texts; the node count as `node_count`, and the nodes as a list in the shortened form.
 *
 * Jobs of an unknown shape are skipped and counted; a text that is not JSON, or has no list of jobs, is rejected.
 */
import * as z from 'zod'
import { batchName, JOBS_MAX, type BatchJob, type BatchReading } from '#core/batch/batch-job.ts'
import { expandHostlist } from '#core/batch/hostlist.ts'
import { slurmState } from '#core/batch/squeue-text.ts'
import { jsonOf } from './json-text.ts'

const whole = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER)
/** 22.05 and before print numbers; later data parsers print `{set, infinite, number}`. */
const number = z
  .union([whole, z.object({ number: whole, set: z.boolean().optional(), infinite: z.boolean().optional() })])
  .transform((n) => (typeof n === 'number' ? n : n.set === false || n.infinite === true ? undefined : n.number))
const text = z.union([z.string(), z.null()]).optional()

const job = z.object({
  job_id: number,
  name: text,
  user_name: text,
  /** Before 22.05 some builds print only the id. */
  user_id: number.optional().catch(undefined),
  account: text,
  job_state: z.union([z.string(), z.array(z.string()).max(16)]).optional(),
  node_count: number.optional().catch(undefined),
  nodes: text,
  job_resources: z
    .object({ nodes: z.unknown(), allocated_hosts: number.optional().catch(undefined) })
    .nullish()
    .catch(null),
})

const answer = z.object({ jobs: z.array(z.unknown()) })

/** State of a job: of several, the base state comes first, flags such as COMPLETING after it. */
const stateOf = (s: z.infer<typeof job>['job_state']): BatchJob['state'] =>
  slurmState((typeof s === 'string' ? s : s?.[0]) ?? '')

/** @returns  undefined unless it is an answer of squeue. */
export function parseSqueueJson(json: string): BatchReading | undefined {
  const read = answer.safeParse(jsonOf(json))
  if (!read.success) return undefined
  const jobs: BatchJob[] = []
  for (const one of read.data.jobs.slice(0, JOBS_MAX)) {
    const j = job.safeParse(one)
    if (!j.success || j.data.job_id === undefined) continue
    const { data } = j
    const hosts = expandHostlist(data.nodes ?? '') ?? []
    const nodes = data.node_count ?? data.job_resources?.allocated_hosts ?? hosts.length
    jobs.push({
      number: String(data.job_id),
      name: batchName(data.name ?? ''),
      user: batchName(data.user_name ?? (data.user_id === undefined ? '' : String(data.user_id))),
      account: batchName(data.account ?? ''),
      nodes: nodes === 0 ? Math.max(1, hosts.length) : nodes,
      hosts,
      state: stateOf(data.job_state),
    })
  }
  return { jobs, skipped: read.data.jobs.length - jobs.length }
}

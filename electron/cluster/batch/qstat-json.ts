/**
 * `qstat -f -F json` of OpenPBS: an object of jobs by `number.server`, or `number[index].server` for one of an array.
 *
 * OpenPBS prints values of a user's environment verbatim, which may make the whole answer invalid JSON; it is then
 * rejected.
 */
import * as z from 'zod'
import { batchName, JOBS_MAX, type BatchJob, type BatchReading } from '#core/batch/batch-job.ts'
import { jsonOf } from './json-text.ts'

const HOSTS_MAX = 4096

const job = z.object({
  Job_Name: z.union([z.string(), z.number()]).optional(),
  Job_Owner: z.string(),
  job_state: z.string(),
  Account_Name: z.string().optional(),
  project: z.string().optional(),
  exec_host: z
    .string()
    .max(1 << 20)
    .optional(),
  Resource_List: z
    .object({ nodect: z.union([z.number().int().nonnegative(), z.string().regex(/^\d{1,9}$/)]).optional() })
    .optional(),
})

const answer = z.object({ Jobs: z.record(z.string(), z.unknown()).optional(), pbs_version: z.string().optional() })

/** `node1/0*4+node2/0*4`, each node once; empty for another form, and for too many nodes. */
function hostsOf(text: string): string[] {
  const hosts = new Set<string>()
  for (const part of text.split('+')) {
    const host = /^\(?([A-Za-z0-9._-]{1,253})(?:\/[0-9*+-]{1,40})?\)?$/.exec(part)?.[1]
    if (host === undefined || hosts.size >= HOSTS_MAX) return []
    hosts.add(host)
  }
  return [...hosts]
}

const stateOf = (s: string): BatchJob['state'] =>
  s === 'R' || s === 'E' || s === 'S' || s === 'U' || s === 'B'
    ? 'running'
    : s === 'F' || s === 'X'
      ? 'ended'
      : 'waiting'

/** @returns  undefined unless it is an answer of qstat. */
export function parseQstatJson(json: string): BatchReading | undefined {
  const read = answer.safeParse(jsonOf(json))
  if (!read.success || (read.data.Jobs === undefined && read.data.pbs_version === undefined)) return undefined
  const all = Object.entries(read.data.Jobs ?? {})
  const jobs: BatchJob[] = []
  for (const [id, one] of all.slice(0, JOBS_MAX)) {
    const number = /^(\d{1,18})(?:\[\d{0,9}\])?(?:\.|$)/.exec(id)?.[1]
    const j = job.safeParse(one)
    if (number === undefined || !j.success) continue
    const { data } = j
    const hosts = data.exec_host === undefined ? [] : hostsOf(data.exec_host)
    const requestedNodes = Number(data.Resource_List?.nodect ?? 0)
    const account = data.Account_Name ?? (data.project === '_pbs_project_default' ? '' : data.project)
    jobs.push({
      number,
      name: batchName(String(data.Job_Name ?? '')),
      user: batchName(data.Job_Owner.split('@')[0] ?? ''),
      account: batchName(account ?? ''),
      nodes: requestedNodes > 0 ? requestedNodes : Math.max(1, hosts.length),
      hosts,
      state: stateOf(data.job_state),
    })
  }
  return { jobs, skipped: all.length - jobs.length }
}

/** Parser of `squeue -h -a -o FORMAT`: the queue of a Slurm without JSON output, one job per line. */
import { batchName, JOBS_MAX, type BatchJob, type BatchReading } from './batch-job.ts'
import { expandHostlist } from './hostlist.ts'

/**
 * Job, nodes, user, account, state, node list, name. The name is last because users choose it and it may contain the separator. `%A` is
 * the job of an array task; `%F` would be that of the whole array.
 */
export const SQUEUE_FORMAT = '%A|%D|%u|%a|%T|%N|%j'

const RUNNING = /^(?:RUNNING|COMPLETING|CONFIGURING|SUSPENDED|STOPPED|RESIZING|SIGNALING|STAGE_OUT)$/
const WAITING = /^(?:PENDING|REQUEUED|REQUEUE_HOLD|REQUEUE_FED|SPECIAL_EXIT|RESV_DEL_HOLD)$/

export const slurmState = (state: string): BatchJob['state'] =>
  RUNNING.test(state) ? 'running' : WAITING.test(state) ? 'waiting' : 'ended'

/** Slurm without accounting prints `(null)` for the account. */
const none = (text: string): string => (text === '(null)' ? '' : text)

/** Parses the output; lines of another format are counted and skipped, including a truncated last line. */
export function parseSqueueText(text: string): BatchReading {
  const jobs: BatchJob[] = []
  let skipped = 0
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [number = '', nodes = '', user = '', account = '', state = '', list = '', ...name] = line.split('|')
    if (!/^\d{1,18}$/.test(number) || !/^\d{1,9}$/.test(nodes) || name.length === 0 || jobs.length >= JOBS_MAX) {
      skipped++
      continue
    }
    jobs.push({
      number,
      name: batchName(name.join('|')),
      user: batchName(user),
      account: batchName(none(account)),
      nodes: Number(nodes),
      hosts: expandHostlist(list) ?? [],
      state: slurmState(state),
    })
  }
  return { jobs, skipped }
}

/**
 * `scontrol -o show job`: one job a line of `Name=value`. Values of users (the job's name, its command) may have blanks and `=` in
 * them and could name fields of their own: what counts is taken from where Slurm prints it, before the first such value can stand,
 * and the name not at all.
 */
import { batchName, JOBS_MAX, type BatchJob, type BatchReading } from './batch-job.ts'
import { expandHostlist } from './hostlist.ts'
import { slurmState } from './squeue-text.ts'

/** Slurm's own order: `JobId=7 [ArrayJobId= …] JobName=… UserId=u(1) GroupId=… … Account=… QOS=… JobState=… … NodeList=… … NumNodes=…`. */
const HEAD = /^JobId=(\d{1,18}) /
/** The last of their kind before the command line, which is at the end. */
const FIELDS = {
  user: / UserId=([^() ]{1,64})\(\d{1,10}\) GroupId=/,
  account: / Account=(\S{1,64}) QOS=/,
  state: / JobState=([A-Z_]{1,30}) Reason=/,
  nodes: / NumNodes=(\d{1,9})(?:-\d{1,9})? NumCPUs=/,
  list: / NodeList=(\S{0,65535})(?: |$)/,
} as const

/** The text behind the job's name, which ends where Slurm's next field stands: after the last such place, whatever the name holds. */
function behindName(line: string): string | undefined {
  const command = line.search(/ Command=/)
  const upTo = command < 0 ? line : line.slice(0, command)
  const at = upTo.lastIndexOf(' UserId=')
  return at < 0 ? undefined : line.slice(at, command < 0 ? undefined : command)
}

function jobOf(line: string): BatchJob | undefined {
  const number = HEAD.exec(line)?.[1]
  const rest = behindName(line)
  if (number === undefined || rest === undefined) return undefined
  const field = (name: keyof typeof FIELDS): string => FIELDS[name].exec(rest)?.[1] ?? ''
  const state = field('state')
  if (state === '') return undefined
  const list = field('list')
  const none = (text: string): string => (text === '(null)' ? '' : text)
  return {
    ...{ number, name: '', user: batchName(field('user')), account: batchName(none(field('account'))) },
    ...{ nodes: Number(field('nodes') || 1), hosts: expandHostlist(none(list)) ?? [], state: slurmState(state) },
  }
}

/** Reads the answer; lines that are no job are counted and left out. */
export function parseScontrolJobs(text: string): BatchReading {
  const jobs: BatchJob[] = []
  let skipped = 0
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line === 'No jobs in the system') continue
    const job = jobs.length < JOBS_MAX ? jobOf(line) : undefined
    if (job) jobs.push(job)
    else skipped++
  }
  return { jobs, skipped }
}

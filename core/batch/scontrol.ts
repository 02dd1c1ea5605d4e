/**
 * Parser of `scontrol -o show job`: one job per line of `Name=value`. User-defined values (job name, command) may contain blanks and `=`
 * and could imitate fields: fields are read from where Slurm prints them, outside of such values, and the name is ignored.
 */
import { batchName, JOBS_MAX, type BatchJob, type BatchReading } from './batch-job.ts'
import { expandHostlist } from './hostlist.ts'
import { slurmState } from './squeue-text.ts'

/** Slurm's own order: `JobId=7 [ArrayJobId= …] JobName=… UserId=u(1) GroupId=… … Account=… QOS=… JobState=… … NodeList=… … NumNodes=…`. */
const HEAD = /^JobId=(\d{1,18}) /
/** The last occurrence of each before the command line, which is at the end. */
const FIELDS = {
  user: / UserId=([^() ]{1,64})\(\d{1,10}\) GroupId=/,
  account: / Account=(\S{1,64}) QOS=/,
  state: / JobState=([A-Z_]{1,30}) Reason=/,
  nodes: / NumNodes=(\d{1,9})(?:-\d{1,9})? NumCPUs=/,
  list: / NodeList=(\S{0,65535})(?: |$)/,
} as const

/** Returns the text after the job's name, which ends at Slurm's next field: after the last such position, whatever the name contains. */
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
    number,
    name: '',
    user: batchName(field('user')),
    account: batchName(none(field('account'))),
    nodes: Number(field('nodes') || 1),
    hosts: expandHostlist(none(list)) ?? [],
    state: slurmState(state),
  }
}

/** Parses the output; lines that are not a job are counted and skipped. */
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

/** `squeue` and `scontrol` of the emulated resource manager. */
import type { ByteText } from '../lustre/text.ts'
import { utc } from './calendar.ts'
import { done, exitWith, type Program } from './exec.ts'
import type { JobScenario } from './scenario.ts'

/** Supported fields of `-o`. */
const FIELDS = {
  A: (j) => j.id.split('.')[0] ?? j.id,
  D: (j) => String(new Set(j.clients).size),
  u: (j) => j.user,
  a: (j) => j.account,
  j: (j) => j.id.split('.').slice(1, -1).join('.') || j.id,
  T: () => 'RUNNING',
} satisfies Record<string, (j: JobScenario) => string>

const isField = (f: string): f is keyof typeof FIELDS => Object.hasOwn(FIELDS, f)

/** A job in the queue, and its start, Unix seconds. */
export interface QueuedJob {
  readonly scenario: JobScenario
  readonly startSeconds: number
}

/** Distinct compute nodes of a job, by name. */
const nodesOf = (j: JobScenario): string[] =>
  [...new Set(j.clients)].sort((a, b) => a - b).map((n) => `cn${String(n).padStart(3, '0')}`)

const jobNumber = (j: JobScenario): number => Number(/^\d{1,9}/.exec(j.id)?.[0] ?? 0)
/** User id from a job id of the form `%j.%e.u%u`. */
const userId = (j: JobScenario): number => Number(/\.u(\d{1,9})$/.exec(j.id)?.[1] ?? 1000)
const PARTITION = 'compute'

const number = (n: number): { set: true; infinite: false; number: number } => ({
  set: true,
  infinite: false,
  number: n,
})

/** JSON of the queue in data_parser v0.0.40 (Slurm 23.11), reduced to the fields that identify a job and its nodes. */
function asJson(queue: readonly QueuedJob[], args: readonly string[]): ByteText {
  const jobs = queue.map(({ scenario: j, startSeconds }) => ({
    account: j.account,
    cluster: 'emulated',
    job_id: jobNumber(j),
    array_job_id: number(0),
    array_task_id: { set: false, infinite: false, number: 0 },
    job_state: [FIELDS.T()],
    name: FIELDS.j(j),
    node_count: number(nodesOf(j).length),
    nodes: nodesOf(j).join(','),
    partition: PARTITION,
    start_time: number(startSeconds),
    user_id: userId(j),
    user_name: j.user,
  }))
  const meta = {
    plugin: { type: 'openapi/slurmctld', name: 'Slurm OpenAPI slurmctld', data_parser: 'data_parser/v0.0.40' },
    client: { source: '', user: '', group: '' },
    command: ['squeue', ...args],
    slurm: { version: { major: '23', micro: '4', minor: '11' }, release: '23.11.4', cluster: 'emulated' },
  }
  return `${asBytes(JSON.stringify({ jobs, meta, errors: [], warnings: [] }, null, 2))}\n`
}

/** Names of a scenario are byte texts already; Slurm's JSON escapes non-ASCII. */
const asBytes = (json: string): ByteText =>
  json.replace(/[\x7f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * `squeue`: the jobs in the queue now, one line each in the format of `-o`, no header with `-h`; `--json` instead.
 *
 * @param queued  jobs in the queue at the time of the call.
 */
export function squeue(queued: () => readonly QueuedJob[]): Program {
  return (args) => {
    if (args.includes('--json')) return done(asJson(queued(), args))
    const at = args.findIndex((a) => a === '-o' || a === '--format')
    const format = at < 0 ? '%A %u %a %D %T' : (args[at + 1] ?? '')
    const line = (of: (field: string) => string): string => format.replace(/%([A-Za-z])/g, (_, f: string) => of(f))
    const head = args.includes('-h') || args.includes('--noheader') ? [] : [line((f) => f)]
    const rows = queued().map(({ scenario: j }) => line((f) => (isField(f) ? FIELDS[f](j) : '')))
    return done([...head, ...rows].map((l) => `${l}\n`).join(''))
  }
}

const localTime = (unixSeconds: number): string => {
  const { date, time } = utc(unixSeconds)
  return `${date}T${time}`
}

/** `scontrol show job [-o]`: one line per job with `-o`, else a block each. */
export function scontrol(queued: () => readonly QueuedJob[]): Program {
  return (args) => {
    const operands = args.filter((a) => !a.startsWith('-'))
    const isLine = args.includes('-o') || args.includes('--oneliner')
    if (args.includes('--json')) return done(asJson(queued(), args))
    if (operands[0] !== 'show' || !/^jobs?$/.test(operands[1] ?? '') || operands.length > 2) {
      return exitWith(1, 'scontrol: only show job is known to this emulated node\n')
    }
    const jobs = queued().map(({ scenario: j, startSeconds }) => {
      const user = `${j.user}(${userId(j)})`
      const lines = [
        `JobId=${jobNumber(j)} JobName=${FIELDS.j(j)}`,
        `UserId=${user} GroupId=${user} MCS_label=N/A`,
        `Priority=1 Nice=0 Account=${j.account} QOS=normal`,
        `JobState=${FIELDS.T()} Reason=None Dependency=(null)`,
        `SubmitTime=${localTime(startSeconds)} EligibleTime=${localTime(startSeconds)}`,
        `StartTime=${localTime(startSeconds)} EndTime=Unknown Deadline=N/A`,
        `Partition=${PARTITION} AllocNode:Sid=login1:1`,
        `ReqNodeList=(null) ExcNodeList=(null)`,
        `NodeList=${nodesOf(j).join(',')}`,
        `NumNodes=${nodesOf(j).length} NumCPUs=${nodesOf(j).length} NumTasks=${nodesOf(j).length}`,
      ]
      return isLine ? `${lines.join(' ')} \n` : `${lines.join('\n   ')}\n\n`
    })
    return done(jobs.length > 0 ? jobs.join('') : 'No jobs in the system\n')
  }
}

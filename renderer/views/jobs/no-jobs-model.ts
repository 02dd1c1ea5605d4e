/** Reasons for an empty jobs table, from the servers' checklists. Texts of servers are escaped where they are shown. */
import type { CheckStep, ClusterCard } from '#core/api/clusters.ts'
import { hostNames } from '../connections/server-tree.ts'

export interface NoJobsState {
  /** probe: probe is off; disable: jobid_var is disable; stats: no job_stats; unread: unreadable; idle: no activity. */
  readonly cause: 'probe' | 'disable' | 'stats' | 'unread' | 'idle'
  readonly title: string
  readonly why: string
  /** Servers that reported the cause, as a sentence. */
  readonly hosts: string
  /** Instruction before the command. */
  readonly advice: string
  readonly command: string
  readonly isProbeOff: boolean
}

const EMPTY = 'Rates of targets and totals also come from job_stats and are empty.'
const APART = 'The rule list is read separately.'
const NAMES = 'lctl set_param -P jobid_var=SLURM_JOB_ID'

const jobsStep = (steps: readonly CheckStep[]): CheckStep | undefined => steps.find((s) => s.id === 'jobs')

export function noJobsState(card: ClusterCard | null, targets: number): NoJobsState {
  const base = { hosts: '', advice: '', command: '', isProbeOff: false }
  const probe = card?.probes.find((p) => p.id === 'job_stats')
  if (probe && !probe.on)
    return {
      ...base,
      cause: 'probe',
      isProbeOff: true,
      title: 'No jobs: job_stats is not read',
      why: `The job_stats probe is off${probe.note === '' ? '' : `: ${probe.note}`}. ${EMPTY} ${APART}`,
    }
  const found = (card?.servers ?? []).flatMap((s) => {
    const step = jobsStep(s.steps)
    return step ? [{ host: s.host, step, isMgs: s.roles.includes('mgs') }] : []
  })
  const hostsOf = (those: typeof found): string =>
    those.length === 0 ? '' : `Reported by ${hostNames(those.map((f) => f.host))}.`
  const disabled = found.filter((f) => f.step.detail.includes('jobid_var=disable'))
  if (disabled.length > 0) {
    const mgs = disabled.find((f) => f.isMgs)
    return {
      ...base,
      cause: 'disable',
      title: 'No jobs: jobid_var is set to disable',
      hosts: hostsOf(disabled),
      command: NAMES,
      why: `jobid_var is disable on ${mgs?.host ?? disabled[0]?.host ?? 'the servers'}, so servers keep no counters per job. Rates of targets and totals are sums over jobs: they are 0, whatever the load. ${APART}`,
      advice: 'Run on the MGS, with the variable of your scheduler:',
    }
  }
  const uncounted = found.filter((f) => f.step.detail.includes('no job_stats is there'))
  if (uncounted.length > 0 && uncounted.length === found.length)
    return {
      ...base,
      cause: 'stats',
      title: 'No jobs: no job_stats found',
      hosts: hostsOf(uncounted),
      why: `No server has a target with job_stats: none is mounted, or its statistics are missing. ${EMPTY}`,
      advice: 'List the targets with job_stats:',
      command: 'lctl list_param obdfilter.*.job_stats mdt.*.job_stats',
    }
  const unread = found.filter((f) => f.step.state === 'bad')
  if (unread.length > 0)
    return {
      ...base,
      cause: 'unread',
      title: 'No jobs: job_stats cannot be read',
      hosts: hostsOf(unread),
      why: `${unread[0]?.step.detail ?? ''}. ${EMPTY}`,
      ...(unread[0]?.step.fix ? { advice: 'To fix:', command: unread[0].step.fix } : {}),
    }
  return {
    ...base,
    cause: 'idle',
    title: 'No job activity yet',
    why: `job_stats of ${targets === 1 ? '1 target' : `${targets} targets`} is empty: a job appears with its first operation and disappears an hour after its last. Rates of targets and totals are 0 until then.`,
  }
}

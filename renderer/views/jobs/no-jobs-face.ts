/** Why there is no job to show, from what the checklist found on the servers; every word of a server is made plain where it is shown. */
import type { CheckStep, ClusterCard } from '#core/api/clusters.ts'
import { hostNames } from '../connections/tree.ts'

export interface NoJobsFace {
  /** probe: we do not read them. disable: servers cannot name them. empty: names are empty. stats: servers do not count by job. idle: no job does anything. */
  readonly cause: 'probe' | 'disable' | 'stats' | 'unread' | 'idle'
  readonly title: string
  readonly why: string
  /** Servers that say so. */
  readonly hosts: string
  /** What is to be done, before the command. */
  readonly ask: string
  readonly command: string
  readonly isProbeOff: boolean
}
/** What targets and totals say is added up from job_stats: nothing of it is known without. */
const EMPTY = 'Rates of targets and totals come from job_stats, too: they are empty.'
const APART = 'The rule list is read apart from it.'
const NAMES = 'lctl set_param -P jobid_var=SLURM_JOB_ID'

const jobsStep = (steps: readonly CheckStep[]): CheckStep | undefined => steps.find((s) => s.id === 'jobs')

export function noJobsFace(card: ClusterCard | null, targets: number): NoJobsFace {
  const base = { hosts: '', ask: '', command: '', isProbeOff: false }
  const probe = card?.probes.find((p) => p.id === 'job_stats')
  if (probe && !probe.on)
    return {
      ...base,
      ...{ cause: 'probe', isProbeOff: true, title: 'No jobs: job_stats is not read' },
      why: `The probe job_stats is off here${probe.note === '' ? '' : `: ${probe.note}`}. ${EMPTY} ${APART}`,
    }
  const found = (card?.servers ?? []).flatMap((s) => {
    const step = jobsStep(s.steps)
    return step ? [{ host: s.host, step, isMgs: s.roles.includes('mgs') }] : []
  })
  const hostsOf = (those: typeof found): string =>
    those.length === 0 ? '' : `${hostNames(those.map((f) => f.host))} ${those.length === 1 ? 'says' : 'say'} so.`
  const disabled = found.filter((f) => f.step.detail.includes('jobid_var=disable'))
  if (disabled.length > 0) {
    const mgs = disabled.find((f) => f.isMgs)
    return {
      ...base,
      ...{ cause: 'disable', title: 'No jobs: jobid_var is disable', hosts: hostsOf(disabled), command: NAMES },
      why: `jobid_var reads disable on ${mgs?.host ?? disabled[0]?.host ?? 'the servers'}, so servers cannot name jobs and count nothing by job. Rates of targets and totals are sums over jobs: they read 0, whatever is served. ${APART}`,
      ask: 'On the MGS; another variable of the scheduler does as well:',
    }
  }
  const uncounted = found.filter((f) => f.step.detail.includes('no job_stats is there'))
  if (uncounted.length > 0 && uncounted.length === found.length)
    return {
      ...base,
      ...{ cause: 'stats', title: 'No jobs: there is no job_stats', hosts: hostsOf(uncounted) },
      why: `No server has a target that counts by job: none is mounted, or its statistics are gone. ${EMPTY}`,
      ask: 'Which targets count by job:',
      command: 'lctl list_param obdfilter.*.job_stats mdt.*.job_stats',
    }
  const unread = found.filter((f) => f.step.state === 'bad')
  if (unread.length > 0)
    return {
      ...base,
      ...{ cause: 'unread', title: 'No jobs: job_stats cannot be read', hosts: hostsOf(unread) },
      why: `${unread[0]?.step.detail ?? ''}. ${EMPTY}`,
      ...(unread[0]?.step.fix ? { ask: 'What to ask for:', command: unread[0].step.fix } : {}),
    }
  return {
    ...base,
    ...{ cause: 'idle', title: 'No job has done anything yet' },
    why: `job_stats of ${targets === 1 ? '1 target' : `${targets} targets`} is read and is empty: a job shows up with its first operation, and goes an hour after its last. Rates of targets and totals read 0 until then.`,
  }
}

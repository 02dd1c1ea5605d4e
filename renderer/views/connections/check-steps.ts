/** Titles, states and progress of checklist steps. */
import type { CheckStep, ServerCard, StepState } from '#core/api/clusters.ts'
import type { Level } from '#core/api/frames.ts'

export const stepTitles: Readonly<Record<CheckStep['id'], string>> = {
  config: 'SSH config',
  jump: 'Jump host',
  dns: 'DNS',
  tcp: 'TCP',
  'host key': 'Host key',
  auth: 'Auth',
  shell: 'Shell',
  sudo: 'sudo',
  lctl: 'lctl',
  role: 'Role',
  policy: 'Policy',
  jobs: 'Jobs',
  timer: 'Timer',
  clock: 'Clock',
  reader: 'Counter reader',
}
export const stepStatuses: Readonly<Record<StepState, { readonly level: Level; readonly word: string }>> = {
  ok: { level: 'ok', word: 'ok' },
  watch: { level: 'watch', word: 'warning' },
  bad: { level: 'bad', word: 'failed' },
  now: { level: 'unknown', word: 'running' },
  next: { level: 'idle', word: 'pending' },
  you: { level: 'watch', word: 'action required' },
  skipped: { level: 'idle', word: 'skipped' },
}

/** Current step of a server: the first that failed or needs action, else the one that is running. */
export const currentStep = (steps: readonly CheckStep[]): CheckStep | null =>
  steps.find((s) => s.state === 'bad' || s.state === 'you') ?? steps.find((s) => s.state === 'now') ?? null

const depth = (steps: readonly CheckStep[]): number =>
  steps.filter((s) => s.state === 'ok' || s.state === 'watch').length

/** Current step of a checklist, counted from 1 among the steps that are not skipped. */
export function progressOf(steps: readonly CheckStep[]): { readonly at: number; readonly of: number } {
  const counted = steps.filter((s) => s.state !== 'skipped')
  const now = counted.findIndex((s) => s.state === 'now' || s.state === 'bad' || s.state === 'you')
  const first = counted.findIndex((s) => s.state === 'next')
  const at = now >= 0 ? now : first >= 0 ? first : counted.length - 1
  return { at: at + 1, of: counted.length }
}

/** True if the step failed for lack of permission of the login, not because the server is unreachable. */
export const isPermission = ({ id, state, detail }: CheckStep): boolean =>
  state === 'bad' &&
  (id === 'sudo' || ((id === 'lctl' || id === 'policy' || id === 'jobs') && /password|permi|sudo|denied/i.test(detail)))

/** The refused command of a step: its last one, because a refusal ends the step. */
export const refusedCommand = ({ command }: CheckStep): string => command.split('\n').at(-1) ?? ''

export interface Obstacle {
  readonly host: string
  readonly step: CheckStep
  /** Number of other servers stuck at the same step. */
  readonly alike: number
  /** Code of the failure, for scripts and tickets. */
  readonly code?: string | undefined
}
/** The reason for missing data: the earliest step at which a server is stuck, failures before running steps. */
export function firstObstacle(servers: readonly ServerCard[]): Obstacle | null {
  const stuck = servers.flatMap((server) => {
    const step = server.state === 'connected' && server.level !== 'bad' ? null : currentStep(server.steps)
    return step ? [{ server, step, at: depth(server.steps) }] : []
  })
  const isHard = ({ step }: (typeof stuck)[number]): number => (step.state === 'now' ? 1 : 0)
  stuck.sort((a, b) => isHard(a) - isHard(b) || a.at - b.at)
  const [first] = stuck
  if (!first) return null
  const alike = stuck.filter((s) => s.step.id === first.step.id && s.step.state === first.step.state).length - 1
  return { host: first.server.host, step: first.step, alike, code: first.server.code }
}

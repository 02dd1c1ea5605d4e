/** Steps of the checklist in words and shapes. */
import type { CheckStep, ServerCard, StepState } from '#core/api/clusters.ts'
import type { Level } from '#core/api/frames.ts'

export const stepTitles: Readonly<Record<CheckStep['id'], string>> = {
  config: 'Config',
  jump: 'Jump',
  dns: 'Name',
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
}
export const stepFaces: Readonly<Record<StepState, { readonly level: Level; readonly word: string }>> = {
  ok: { level: 'ok', word: 'ok' },
  watch: { level: 'watch', word: 'look' },
  bad: { level: 'bad', word: 'failed' },
  now: { level: 'unknown', word: 'now' },
  next: { level: 'idle', word: 'next' },
  you: { level: 'watch', word: 'you' },
  skipped: { level: 'idle', word: 'skipped' },
}

/** The step that a server stands at: the first that failed, waits for a person, or is under way. */
export const standsAt = (steps: readonly CheckStep[]): CheckStep | null =>
  steps.find((s) => s.state === 'bad' || s.state === 'you') ?? steps.find((s) => s.state === 'now') ?? null

const depth = (steps: readonly CheckStep[]): number =>
  steps.filter((s) => s.state === 'ok' || s.state === 'watch').length

/** The step a checklist is at, counted from 1, of those that are not skipped. */
export function progressOf(steps: readonly CheckStep[]): { readonly at: number; readonly of: number } {
  const counted = steps.filter((s) => s.state !== 'skipped')
  const now = counted.findIndex((s) => s.state === 'now' || s.state === 'bad' || s.state === 'you')
  const first = counted.findIndex((s) => s.state === 'next')
  const at = now >= 0 ? now : first >= 0 ? first : counted.length - 1
  return { at: at + 1, of: counted.length }
}

/** A login that may not do what is asked of it: not a fault of the way there. */
export const isPermission = ({ id, state, detail }: CheckStep): boolean =>
  state === 'bad' &&
  (id === 'sudo' || ((id === 'lctl' || id === 'policy' || id === 'jobs') && /password|permi|sudo|denied/i.test(detail)))

/** Of a step of several commands the one that was refused: the last, because a step ends with it. */
export const refusedCommand = ({ command }: CheckStep): string => command.split('\n').at(-1) ?? ''

export interface Obstacle {
  readonly host: string
  readonly step: CheckStep
  /** Other servers that stand at the same step. */
  readonly alike: number
  /** Of the failure, for scripts and tickets. */
  readonly code?: string | undefined
}
/** Why there is no data: of the steps at which servers stand, the earliest, with the first server at it. */
export function firstObstacle(servers: readonly ServerCard[]): Obstacle | null {
  const standing = servers.flatMap((server) => {
    const step = server.state === 'connected' && server.level !== 'bad' ? null : standsAt(server.steps)
    return step ? [{ server, step, at: depth(server.steps) }] : []
  })
  const isHard = ({ step }: (typeof standing)[number]): number => (step.state === 'now' ? 1 : 0)
  standing.sort((a, b) => isHard(a) - isHard(b) || a.at - b.at)
  const [first] = standing
  if (!first) return null
  const alike = standing.filter((s) => s.step.id === first.step.id && s.step.state === first.step.state).length - 1
  return { host: first.server.host, step: first.step, alike, code: first.server.code }
}

/** Groups of event kinds, for filters of lists and charts. */
import type { Mark } from '#core/api/history.ts'

const GROUPS = {
  all: { label: 'All', kinds: null },
  operator: { label: 'Changes', kinds: ['start', 'stop', 'change', 'mode', 'note'] },
  alerts: { label: 'Alerts', kinds: ['alarm', 'lost'] },
  controller: { label: 'Controller', kinds: ['controller'] },
  jobs: { label: 'Jobs', kinds: ['job'] },
} as const satisfies Readonly<Record<string, { label: string; kinds: readonly Mark['kind'][] | null }>>

export type EventGroup = keyof typeof GROUPS

/** Options of a segmented control. */
export const eventGroups = (Object.keys(GROUPS) as EventGroup[]).map((value) => ({
  value,
  label: GROUPS[value].label,
  testid: `events-${value}`,
}))

export function isInGroup({ kind }: Pick<Mark, 'kind'>, group: EventGroup): boolean {
  const kinds: readonly Mark['kind'][] | null = GROUPS[group].kinds
  return kinds === null || kinds.includes(kind)
}

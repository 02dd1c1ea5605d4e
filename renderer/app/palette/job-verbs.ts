/** Verbs of the palette that take a job: `propose 4690` offers a limit for each job that is found. */
import { Gauge } from '@lucide/vue'
import type { Found } from '#core/api/search.ts'
import { useProposeStore } from '../../stores/propose.ts'
import { plainText } from '../../format/plain-text.ts'
import type { Item } from './item.ts'

const verbs = ['propose', 'limit', 'throttle', 'cap'] as const
const LEAST_CHARS = 3
const JOBS_MOST = 4

/** The name in a text that begins with such a verb; null where it begins with none. */
export function nameBehindVerb(text: string): string | null {
  const [, verb = '', name = ''] = /^\s*(\S+)\s+(?:a\s+limit\s+)?(?:for\s+)?(.*)$/i.exec(text) ?? []
  const low = verb.toLowerCase()
  return low.length >= LEAST_CHARS && verbs.some((v) => v.startsWith(low)) ? name.trim() : null
}

export function useJobVerbs(): (jobs: readonly string[]) => Item[] {
  const propose = useProposeStore()
  return (jobs) =>
    jobs.slice(0, JOBS_MOST).map((id) => ({
      ...{ id: `propose ${id}`.slice(0, 600), group: 'Commands', icon: Gauge },
      title: `Propose a limit for ${plainText(id)}`,
      run: () => propose.open(id),
    }))
}
export const runningJobs = (found: readonly Found[]): string[] =>
  found.flatMap((f) => (f.kind === 'job' && f.isThere ? [f.id] : []))

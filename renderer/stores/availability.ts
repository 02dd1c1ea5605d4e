/** Availability of commands: unavailable while their requirement is out of reach, with the reason. */
import { useOutageStore } from './outage.ts'
import { catalogue } from '../commands/catalogue.ts'
import type { Need } from '../commands/command.ts'

const needOf = new Map<string, Need | undefined>(catalogue.map((c) => [c.id, c.needs]))

/** Returns why a requirement is not met, or null. Commands handle recordings themselves. */
export function whyWithout(need: Need | undefined): string | null {
  if (need === undefined) return null
  const outages = useOutageStore()
  return need === 'host' ? outages.hostOff : outages.off
}

/** The same for a command of the catalogue. */
export const whyOff = (id: string): string | null => whyWithout(needOf.get(id))

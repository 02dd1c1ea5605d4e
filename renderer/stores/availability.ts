/** Which commands cannot be done now, and why: what they need is out of reach. */
import { useOutageStore } from './outage.ts'
import { catalogue } from '../commands/catalogue.ts'
import type { Need } from '../commands/command.ts'

const needOf = new Map<string, Need | undefined>(catalogue.map((c) => [c.id, c.needs]))

/** Why what needs this cannot be done; null: it can. A recording on screen is said by the commands themselves. */
export function whyWithout(need: Need | undefined): string | null {
  if (need === undefined) return null
  const outages = useOutageStore()
  return need === 'host' ? outages.hostOff : outages.off
}

/** The same of a command of the catalogue. */
export const whyOff = (id: string): string | null => whyWithout(needOf.get(id))

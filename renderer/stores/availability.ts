/** Availability of commands: a command is unavailable while the host or the servers that it needs are not reachable. */
import { useOutageStore } from './outage.ts'
import { catalogue } from '../commands/catalogue.ts'
import type { Need } from '../commands/command.ts'

const needOf = new Map<string, Need | undefined>(catalogue.map((c) => [c.id, c.needs]))

/** Returns the reason why a requirement is not met; null if it is. Commands handle recordings themselves. */
export function unmetNeed(need: Need | undefined): string | null {
  if (need === undefined) return null
  const outages = useOutageStore()
  return need === 'host' ? outages.hostOff : outages.off
}

/** Returns the reason why a command of the catalogue is unavailable; null if it is available. */
export const unavailableReason = (id: string): string | null => unmetNeed(needOf.get(id))

/** Node lists in Slurm's notation: `node[001-003,7],login1`. */
import { expandHostName, splitHostList } from '../base/host-list.ts'

/** Most names in one list. */
export const HOSTS_MAX = 4096
const TEXT_MAX = 65_536
const NAME_MAX = 253

/**
 * Expands a list to its names, each once, in order.
 *
 * @returns  undefined if the text is not a list or has more than `HOSTS_MAX` names.
 */
export function expandHostlist(text: string): string[] | undefined {
  if (text === '' || text.length > TEXT_MAX) return text === '' ? [] : undefined
  const names = new Set<string>()
  for (const part of splitHostList(text)) {
    const expanded = /^[A-Za-z0-9._[\],-]*$/.test(part) ? expandHostName(part, HOSTS_MAX) : []
    if ('reason' in expanded || expanded.length === 0) return undefined
    for (const name of expanded) {
      if (name === '' || name.length > NAME_MAX) return undefined
      names.add(name)
    }
    if (names.size > HOSTS_MAX) return undefined
  }
  return [...names]
}

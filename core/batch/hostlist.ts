/** Lists of nodes as Slurm shortens them: `node[001-003,7],login1`. */
import { expandHostName, splitHostList } from '../base/host-list.ts'

/** Names that one list may stand for. */
export const HOSTS_MAX = 4096
const TEXT_MAX = 65_536
const NAME_MAX = 253

/**
 * The names that a list stands for, each once, in its order.
 *
 * @returns  undefined for a text that is no list, and for one of more than `HOSTS_MAX` names.
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

/** Catalogue commands that are currently handled, and the verbs beside them. */
import { ChartLine, Command, Keyboard, Table2, Timer } from '@lucide/vue'
import type { Component } from 'vue'
import { unavailableReason, unmetNeed } from '../../stores/availability.ts'
import { catalogue } from '../../commands/catalogue.ts'
import type { CommandEntry } from '../../commands/command.ts'
import { useKeymapStore } from '../../commands/keymap.ts'
import { handledCommands, runCommand } from '../../composables/use-commands.ts'
import { viewParts } from '../views.ts'
import type { Item, Verb } from './item.ts'

const icons: Readonly<Record<string, Component>> = {
  ...Object.fromEntries(Object.entries(viewParts).map(([id, { icon }]) => [id, icon])),
  help: Keyboard,
  time: Timer,
  tables: Table2,
  charts: ChartLine,
}
const iconOf = ({ id, scope }: CommandEntry): Component =>
  icons[id.split('.')[1] ?? ''] ?? icons[scope] ?? icons[id.split('.')[0] ?? ''] ?? Command

/** Keywords of a group or a view by which a command is found, too. */
const keywordsOf = ({ scope, group, id, keywords = '' }: CommandEntry): string =>
  [
    keywords,
    scope === 'everywhere' ? '' : scope,
    group ?? '',
    id.split('.')[0] === 'frame' ? '' : id.split('.')[0],
  ].join(' ')

const offBy = (why: string | null): { why?: string } => (why === null ? {} : { why })

export function useCatalogueItems(): (verbs: readonly Verb[]) => Item[] {
  const keymap = useKeymapStore()
  return (verbs) => {
    const now = handledCommands()
    const listed = catalogue.filter((c) => now.has(c.id) && !c.isLocal && c.id !== 'frame.palette')
    const isPart = ({ scope }: CommandEntry): boolean => scope === 'table' || scope === 'chart'
    const own = listed.filter((c) => c.scope !== 'everywhere' && !isPart(c))
    const rest = [...listed.filter((c) => c.scope === 'everywhere'), ...listed.filter(isPart)]
    const items = (entries: typeof listed): Item[] =>
      entries.map((c) => {
        const [key] = keymap.keysOf(c.id)
        return {
          id: c.id,
          group: 'Commands',
          title: c.title,
          keywords: keywordsOf(c),
          icon: iconOf(c),
          ...(key === undefined ? {} : { key }),
          ...offBy(unavailableReason(c.id)),
          run: () => void runCommand(c.id),
        }
      })
    const beside = verbs
      .filter(({ of }) => of === undefined || !now.has(of))
      .map((verb): Item => {
        const [key] = verb.of === undefined ? [] : keymap.keysOf(verb.of)
        const off = offBy(verb.of === undefined ? unmetNeed(verb.needs) : unavailableReason(verb.of))
        return key === undefined ? { ...verb, ...off } : { ...verb, ...off, key }
      })
    // Commands of the current view first, then navigation.
    return [...items(own), ...items(rest), ...beside]
  }
}

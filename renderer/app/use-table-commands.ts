/**
 * Keys common to all tables: sorting by letter, tags, copying, and row movement in tables without keys of their own.
 */
import { useEventListener } from '@vueuse/core'
import { factTable } from '../charts/facts.ts'
import { factsOf } from '../charts/use-chart-facts.ts'
import { keyName, isTyping } from '../commands/key-press.ts'
import { useKeymapStore } from '../commands/keymap.ts'
import { useCommands, type Handlers } from '../composables/use-commands.ts'
import { chartPicture } from '../reach/chart-picture.ts'
import { copyPicture, copyText, type Copied } from '../reach/copy.ts'
import { keyTargets } from '../reach/key-target.ts'
import { announce } from '../composables/announcements.ts'
import {
  plainFigure,
  rowText,
  selectionText,
  sortByKey,
  stepRow,
  TABLE,
  targetRow,
  targetTable,
} from '../reach/tables.ts'
import { useProvenance } from './provenance.ts'
import { tagTables, useTagsStore, type TagTable } from '../stores/tags.ts'

const letters = {
  'tables.sort-read': 'r',
  'tables.sort-write': 'w',
  'tables.sort-rpc': 'i',
  'tables.sort-locks': 'l',
  'tables.sort-grants': 'g',
  'tables.sort-ops': 'o',
  'tables.sort-use': 'u',
  'tables.sort-name': 'n',
} as const

const copyMessages: Readonly<Record<Copied, (what: string) => string>> = {
  copied: (what) => `${what} copied`,
  saved: (what) => `${what} saved as a file: this browser cannot copy images`,
  refused: (what) => `${what} not copied: the browser denies access to the clipboard`,
}

export function useTableCommands(): void {
  const tags = useTagsStore()
  const keymap = useKeymapStore()
  const provenance = useProvenance()

  const nameOf = (table: Element | null): string => table?.getAttribute('aria-label') ?? 'the table'
  const sort = (letter: string) => (): unknown => {
    const table = targetTable()
    if (table === null) return false
    if (!sortByKey(table, letter)) announce(`No column of ${nameOf(table)} has that sort key`)
    return undefined
  }
  const asTagTable = (name: string | undefined): TagTable | undefined => tagTables.find((table) => table === name)
  function tag(): unknown {
    const table = targetTable()
    const name = asTagTable(table?.dataset['tags'])
    if (table === null || name === undefined) {
      if (table !== null) announce(`Rows of ${nameOf(table)} cannot be tagged`)
      return table === null ? false : undefined
    }
    const id = targetRow(table)?.dataset['row']
    if (id === undefined) announce('No row selected: use j and k')
    else tags.toggle(name, id)
    return undefined
  }

  async function copyChart(chart: Element): Promise<void> {
    const facts = factsOf(chart)
    const title = chart.closest('.panel, .one, section')?.querySelector('h2')?.textContent?.trim()
    const picture = await chartPicture(chart, { title: title ?? facts?.title ?? 'Chart', strip: provenance() })
    if (picture !== null) announce(copyMessages[await copyPicture(picture, 'sluice-chart.png')]('Chart'))
    else if (facts !== null) {
      const { heads, rows } = factTable(facts, null)
      const lines = [heads, ...rows.map((row) => [row.at, ...row.values])]
      const text = lines.map((line) => line.map(plainFigure).join('\t')).join('\n')
      announce(copyMessages[await copyText(`${text}\n`)]('Values of the chart'))
    }
  }
  async function copyAs(text: string, what: string): Promise<void> {
    announce(copyMessages[await copyText(text)](what))
  }
  function copy(): unknown {
    if ((getSelection()?.toString() ?? '') !== '') return false
    for (const element of keyTargets()) {
      const command = element.closest('pre.code, .code, [data-command]')
      if (command !== null) return void copyAs(command.textContent ?? '', 'Command')
      const chart = element.closest('[data-chart]')
      if (chart !== null) return void copyChart(chart)
      if (element.closest(TABLE) !== null) break
    }
    const table = targetTable()
    if (table === null) return false
    const selection = selectionText(table)
    if (selection !== null) return void copyAs(selection, 'Selected rows')
    const row = targetRow(table)
    if (row === null) announce('No row selected: use j and k')
    else void copyAs(rowText(table, row), 'Row')
    return undefined
  }

  const sorting = Object.fromEntries(
    Object.entries(letters).map(([id, letter]) => [id, sort(letter)]),
  ) as Partial<Handlers>
  const step = (by: 1 | -1) => (): unknown => {
    const table = targetTable()
    return table !== null && stepRow(table, by)
  }
  useCommands({
    ...sorting,
    'tables.next': step(1),
    'tables.previous': step(-1),
    'tables.open': () => {
      const table = targetTable()
      const row = table && targetRow(table)
      if (!row) return false
      row.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))
      return undefined
    },
    'tables.tag': tag,
    'tables.untag': () => void tags.clear(),
    'tables.copy': copy,
  })
  /** A focused table other than the main one handles j and k itself. */
  useEventListener(
    window,
    'keydown',
    (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event.target) || !(event.target instanceof Element)) return
      const table = event.target.closest(TABLE)
      const main = document.querySelector('.view [data-main-table]')
      if (table === null || main === null || table === main) return
      const name = keyName(event)
      const by = keymap.keysOf('tables.next').includes(name)
        ? 1
        : keymap.keysOf('tables.previous').includes(name)
          ? -1
          : 0
      if (by !== 0 && stepRow(table, by)) event.preventDefault()
    },
    { capture: true },
  )
}

/**
 * Pages of Help, built from docs/. Key bindings and metrics of a view are added from the window's own tables.
 */
import connect from '../../../docs/connect.md?raw'
import enforce from '../../../docs/enforce-safely.md?raw'
import enforcementModel from '../../../docs/enforcement-model.md?raw'
import firstTen from '../../../docs/first-ten-minutes.md?raw'
import glossary from '../../../docs/glossary.md?raw'
import history from '../../../docs/history.md?raw'
import historySchema from '../../../docs/history-schema.md?raw'
import incidents from '../../../docs/incidents.md?raw'
import notKnown from '../../../docs/not-known.md?raw'
import sandbox from '../../../docs/sandbox.md?raw'
import sudoers from '../../../docs/sudoers.md?raw'
import licence from '../../../LICENSE?raw'
import { version } from '../../../package.json'
import type { CommandScope } from '../../commands/command.ts'
import { visitedViews } from '../../commands/views.ts'
import { blocksOf, textOf, type Block } from '../../help/markdown/blocks.ts'

const viewTexts = import.meta.glob<string>('../../../docs/views/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
})

const advanceTexts = import.meta.glob<string>('../../../docs/advances/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
})

export type HelpGroup = 'Start' | 'Operating' | 'Views' | 'Reference'
export interface HelpPage {
  /** Stable: part of addresses. */
  readonly id: string
  readonly title: string
  readonly group: HelpGroup
  readonly blocks: readonly Block[]
  /** Full text, for the search. */
  readonly text: string
  /** File in docs/, by which other pages link to it; empty for generated pages. */
  readonly file: string
  /** View of the page; its key bindings and metrics follow the text. */
  readonly view?: CommandScope
  /** Set if all key bindings follow the text. */
  readonly hasAllKeys?: true
}

/** Creates a page; the first heading becomes its title. */
function page(id: string, group: HelpGroup, file: string, text: string, more: Partial<HelpPage> = {}): HelpPage {
  const [head, ...blocks] = blocksOf(text)
  const title = head?.kind === 'heading' ? head.text.map((t) => t.text).join('') : id
  return { id, title, group, file, blocks, text: textOf(blocks), ...more }
}

const textOfView = (view: string): string => viewTexts[`../../../docs/views/${view}.md`] ?? ''

const KEYBOARD = `# Keyboard shortcuts

Single keys act while no text field has the focus and no dialog or menu is open. \`F1\` steps through the numbers and explains each;
\`Esc\` ends that. Keys can be changed in Settings.
`
const ABOUT = `# About and licenses

Sluice ${version}, an operator console for I/O quality of service on parallel file systems.

It sends no data to third parties: no telemetry, no update checks, no external fonts or images. A packaged Sluice includes the licenses of its
dependencies in \`THIRD-PARTY-LICENSES.txt\`.

\`\`\`
${licence.trim()}
\`\`\`
`

/** Pages of advances over the papers; the overview first. */
const advancePages: readonly HelpPage[] = Object.entries(advanceTexts)
  .map(([path, text]) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const id = name === 'README.md' ? 'advances' : name.replace(/\.md$/, '')
    return page(id, 'Reference', `advances/${name}`, text)
  })
  .toSorted((a, b) => Number(b.id === 'advances') - Number(a.id === 'advances') || a.id.localeCompare(b.id))

export const pages: readonly HelpPage[] = [
  page('first-ten-minutes', 'Start', 'first-ten-minutes.md', firstTen),
  page('connect', 'Operating', 'connect.md', connect),
  page('sudoers', 'Operating', 'sudoers.md', sudoers),
  page('enforce-safely', 'Operating', 'enforce-safely.md', enforce),
  page('enforcement-model', 'Operating', 'enforcement-model.md', enforcementModel),
  page('sandbox-measured', 'Operating', 'sandbox.md', sandbox),
  page('history-kept', 'Operating', 'history.md', history),
  page('incident-bundles', 'Operating', 'incidents.md', incidents),
  page('not-known', 'Operating', 'not-known.md', notKnown),
  ...visitedViews.map(({ id }) => page(id, 'Views', `views/${id}.md`, textOfView(id), { view: id })),
  ...advancePages,
  page('history-schema', 'Reference', 'history-schema.md', historySchema),
  page('glossary', 'Reference', 'glossary.md', glossary),
  page('keyboard', 'Reference', '', KEYBOARD, { hasAllKeys: true }),
  page('about', 'Reference', '', ABOUT),
]

const byId = new Map(pages.map((p) => [p.id, p]))
export const pageById = (id: string): HelpPage | undefined => byId.get(id)
const byFile = new Map(pages.filter((p) => p.file !== '').map((p) => [p.file, p.id]))

/** Resolves a link in the file `from` to a page id; undefined if it is not a Help page. */
export function pageOfLink(from: string, href: string): string | undefined {
  const [path = ''] = href.split('#')
  if (!path.endsWith('.md') || /^[a-z]+:/i.test(path)) return undefined
  const folder = from.includes('/') ? from.slice(0, from.lastIndexOf('/')).split('/') : []
  for (const part of path.split('/')) {
    if (part === '..') folder.pop()
    else if (part !== '.') folder.push(part)
  }
  return byFile.get(folder.join('/'))
}

/**
 * The pages of Help. What operators read lies in docs/, once, and is read here as the build finds it; keys and numbers of a view are
 * added from what the window itself knows.
 */
import connect from '../../../docs/connect.md?raw'
import enforce from '../../../docs/enforce-safely.md?raw'
import firstTen from '../../../docs/first-ten-minutes.md?raw'
import history from '../../../docs/history.md?raw'
import incidents from '../../../docs/incidents.md?raw'
import notKnown from '../../../docs/not-known.md?raw'
import sandbox from '../../../docs/sandbox.md?raw'
import sudoers from '../../../docs/sudoers.md?raw'
import licence from '../../../LICENSE?raw'
import { version } from '../../../package.json'
import type { CommandScope } from '../../commands/command.ts'
import { visitedViews } from '../../commands/views.ts'
import { blocksOf, wordsOf, type Block } from '../../help/markdown/blocks.ts'

const viewTexts = import.meta.glob<string>('../../../docs/views/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
})

export type HelpGroup = 'Start' | 'Operating' | 'Views' | 'Reference'
export interface HelpPage {
  /** Stays: it is part of addresses. */
  readonly id: string
  readonly title: string
  readonly group: HelpGroup
  readonly blocks: readonly Block[]
  /** Everything it says, for a search. */
  readonly words: string
  /** Its file in docs/, by which other pages name it; empty for what is made here. */
  readonly file: string
  /** The view it is about: its keys and its numbers follow the text. */
  readonly view?: CommandScope
  /** Follows the text: all keys. */
  readonly hasAllKeys?: true
}

/** A page without its first heading, which is its title. */
function page(id: string, group: HelpGroup, file: string, text: string, more: Partial<HelpPage> = {}): HelpPage {
  const [head, ...blocks] = blocksOf(text)
  const title = head?.kind === 'heading' ? head.text.map((t) => t.text).join('') : id
  return { id, title, group, file, blocks, words: wordsOf(blocks), ...more }
}

const textOfView = (view: string): string => viewTexts[`../../../docs/views/${view}.md`] ?? ''

const KEYBOARD = `# Keyboard

Single keys act when no text field has the focus and nothing floats above the view. \`F1\` goes from number to number and says what each means;
\`Esc\` ends that. Keys can be chosen in Settings.
`
const ABOUT = `# About and licences

Sluice ${version}, an operator console for I/O quality of service on parallel file systems.

It sends nothing anywhere: no telemetry, no search for updates, no fonts or pictures from elsewhere. A packaged Sluice carries the licences of all
that went into it beside the program, as \`THIRD-PARTY-LICENSES.txt\`.

\`\`\`
${licence.trim()}
\`\`\`
`

export const pages: readonly HelpPage[] = [
  page('first-ten-minutes', 'Start', 'first-ten-minutes.md', firstTen),
  page('connect', 'Operating', 'connect.md', connect),
  page('sudoers', 'Operating', 'sudoers.md', sudoers),
  page('enforce-safely', 'Operating', 'enforce-safely.md', enforce),
  page('sandbox-measured', 'Operating', 'sandbox.md', sandbox),
  page('history-kept', 'Operating', 'history.md', history),
  page('incident-bundles', 'Operating', 'incidents.md', incidents),
  page('not-known', 'Operating', 'not-known.md', notKnown),
  ...visitedViews.map(({ id }) => page(id, 'Views', `views/${id}.md`, textOfView(id), { view: id })),
  page('keyboard', 'Reference', '', KEYBOARD, { hasAllKeys: true }),
  page('about', 'Reference', '', ABOUT),
]

const byId = new Map(pages.map((p) => [p.id, p]))
export const pageById = (id: string): HelpPage | undefined => byId.get(id)
const byFile = new Map(pages.filter((p) => p.file !== '').map((p) => [p.file, p.id]))

/** Page that a link leads to, as it stands in `from`; undefined: it is not among those of Help. */
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

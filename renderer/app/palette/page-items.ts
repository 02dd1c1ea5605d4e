/** Settings and pages of Help as the palette finds them; loaded when it first opens, because they bring texts along. */
import { BookOpenText, Settings } from '@lucide/vue'
import { shallowRef } from 'vue'
import { useRouter } from 'vue-router'
import type { Block } from '../../help/markdown/blocks.ts'
import { useShellStore } from '../../stores/shell.ts'
import type { Item } from './item.ts'

/** Characters of a page's text by which it is found, beside its name and its headings. */
const WORDS = 300
const headsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => (block.kind === 'heading' ? block.text.map(({ text }) => text).join('') : []))

export function usePageItems() {
  const [router, shell] = [useRouter(), useShellStore()]
  const items = shallowRef<readonly Item[]>([])
  async function load(): Promise<void> {
    if (items.value.length > 0) return
    try {
      const [{ settingEntries }, { pages }] = await Promise.all([
        import('../../views/settings/entries.ts'),
        import('../../views/help/pages.ts'),
      ])
      items.value = [
        ...settingEntries
          .filter(({ id }) => id !== 'secrets' || shell.about?.secrets.can === true)
          .map(({ id, title, words }) => ({
            ...{ id: `setting ${id}`, group: 'Settings', title, words: words.slice(0, WORDS), icon: Settings },
            run: () => void router.push({ name: 'settings', query: { find: id } }),
          })),
        ...pages.map(({ id, title, words, blocks }) => ({
          ...{ id: `help ${id}`, group: 'Help', title, icon: BookOpenText },
          words: [id.replaceAll('-', ' '), ...headsOf(blocks), words.slice(0, WORDS)].join(' '),
          run: () => void router.push({ name: 'help', params: { page: id } }),
        })),
      ]
    } catch {
      // What cannot be loaded is not found; it is asked for again when the palette opens the next time.
    }
  }
  return { items, load }
}

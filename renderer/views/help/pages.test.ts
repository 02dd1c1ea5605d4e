/** Help pages: no Markdown notation is left in the rendered text, and every link between pages resolves. */
import { expect, it } from 'vitest'
import { blocksOf, type Block } from '../../help/markdown/blocks.ts'
import { inlineOf, type Inline } from '../../help/markdown/inline.ts'
import { visitedViews } from '../../commands/views.ts'
import { pageById, pageOfLink, pages } from './pages.ts'

const textsOf = (b: Block): readonly (readonly Inline[])[] => {
  if (b.kind === 'code') return []
  if (b.kind === 'list') return b.items
  if (b.kind === 'table') return [b.head, ...b.rows].flat()
  return [b.text]
}

it('has a page for every view, each with a text', () => {
  for (const view of visitedViews) expect(pageById(view.id)?.view, view.id).toBe(view.id)
  for (const page of pages) expect(page.text.length, page.id).toBeGreaterThan(80)
  expect(new Set(pages.map((p) => p.id)).size).toBe(pages.length)
})

it('leaves no notation in the words', () => {
  const left = pages.flatMap((page) =>
    page.blocks
      .flatMap(textsOf)
      .flat()
      .filter((part) => part.kind !== 'code' && /`|\*\*|\]\(|^#|\|/.test(part.text))
      .map((part) => `${page.id}: ${part.text}`),
  )
  expect(left).toEqual([])
})

it('leads from page to page by the names of their files', () => {
  const links = pages.flatMap((page) =>
    page.blocks
      .flatMap(textsOf)
      .flat()
      .flatMap((part) => (part.kind === 'link' && part.href.endsWith('.md') ? [{ page, href: part.href }] : [])),
  )
  expect(links.length).toBeGreaterThan(5)
  for (const { page, href } of links) expect(pageOfLink(page.file, href), `${page.id} ${href}`).toBeDefined()
  expect(pageOfLink('views/rules.md', '../enforce-safely.md')).toBe('enforce-safely')
  expect(pageOfLink('connect.md', 'https://example.org/connect.md')).toBeUndefined()
})

it('makes no markup of what is written: tags stay text', () => {
  const [block] = blocksOf('<img src=x onerror=alert(1)> and `a | b`')
  expect(block).toEqual({
    kind: 'paragraph',
    text: [
      { kind: 'text', text: '<img src=x onerror=alert(1)> and ' },
      { kind: 'code', text: 'a | b' },
    ],
  })
  expect(inlineOf('obdfilter.*.job_stats, a*b*c')).toEqual([{ kind: 'text', text: 'obdfilter.*.job_stats, a*b*c' }])
})

it('reads tables with bars in code, lists that continue, and fences', () => {
  const [table, list, code] = blocksOf(
    '| a | b |\n|---|---|\n| `x\\|y` | 2 |\n\n1. one\n   more\n2. two\n\n```sh\n# no heading\n```',
  )
  expect(table).toMatchObject({ kind: 'table', rows: [[[{ kind: 'code', text: 'x|y' }], [{ text: '2' }]]] })
  expect(list).toMatchObject({ kind: 'list', isOrdered: true, items: [[{ text: 'one more' }], [{ text: 'two' }]] })
  expect(code).toEqual({ kind: 'code', text: '# no heading' })
})

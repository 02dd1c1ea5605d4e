import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const rows = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!---|term)/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))

it('the glossary names places that exist', () => {
  expect(rows.length).toBeGreaterThan(70)
  const places = rows.map(
    (cells) => /^`([\w./-]+\.ts)`$/.exec(cells.at(-2) ?? '')?.[1] ?? `no place: ${cells.join('|')}`,
  )
  expect(places.filter((place) => !existsSync(join(ROOT, place)))).toEqual([])
})

it('the glossary has each term once in its section, with a meaning and its origin', () => {
  for (const cells of rows)
    expect([cells[1], cells.length, cells.every((c, i) => i === 0 || i === 5 || c !== '')]).toEqual([cells[1], 6, true])
})

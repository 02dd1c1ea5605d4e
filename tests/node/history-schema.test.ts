/** docs/history-schema.md: current, and its queries run. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readerOf } from '#electron/history/open-recording.ts'
import { runQuery } from '#electron/history/sql.ts'
import { HISTORY_TABLES } from '#electron/history/tables.ts'
import { openHere } from '#tests/kits/electron/foreign/in-process.ts'
import { recordPlanes } from '#tests/kits/electron/history/plane-samples.ts'
import { newFile, NOW, openAt } from '#tests/kits/electron/history/samples.ts'
import { EXAMPLES, SCHEMA_PAGE, schemaPage } from '../../scripts/history-schema.ts'

it('the page is that of the registry: `node scripts/history-schema.ts` writes it', () => {
  expect(readFileSync(SCHEMA_PAGE, 'utf8')).toBe(schemaPage())
})

it('names of tables, columns and parameters are words of SQL, and none is ambiguous', () => {
  for (const { name, columns } of HISTORY_TABLES) {
    const names = columns.map((c) => c.name)
    for (const word of [name, ...names]) expect(word).toMatch(/^[a-z][a-z0-9_]*$/)
    expect(new Set(names).size, name).toBe(names.length)
    for (const parameter of ['tier', 'from_ms', 'to_ms']) expect(names, name).not.toContain(parameter)
  }
})

const file = newFile()
const written = openAt(file)
recordPlanes(written, 30)
written.close()

it.each(EXAMPLES)('example: $title', ({ sql }) => {
  const opened = openHere(file)
  const reader = opened.ok ? readerOf(opened.value) : opened
  if (!opened.ok || !reader.ok) throw new Error('the history cannot be opened')
  const source = { reader: reader.value, db: opened.value.db, cluster: reader.value.id }
  const query = { sql, rows: 100, fromMs: NOW, toMs: NOW + 30_000, tier: null }
  const answer = runQuery(source, query, () => undefined)
  reader.value.close()
  expect(answer).toMatchObject({ ok: true })
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import type { Result } from '#core/base/result.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openBundle } from './open-bundle.ts'
import { unpackHistory } from './unpack-history.ts'
import { codeOf } from '../redaction/pseudonym-key.ts'
import { inputOf, smallSource } from '#tests/kits/electron/incidents/small-source.ts'
import { verifyHere } from '#tests/kits/electron/foreign/in-process.ts'
import { writeBundle } from './write-bundle.ts'
import { openZip } from '../zip/zip-in.ts'

// Simulates a machine without a build of the canvas: its library file is invalid. The library is loaded once per
// process, so this test has its own file.
const folder = tempFolder()
const library = join(folder, 'skia.node')
writeFileSync(library, 'no library')
process.env.NAPI_RS_NATIVE_LIBRARY_PATH = library

const must = <T>(r: Result<T>): T => {
  if (!r.ok) throw new Error(`${r.error.what}: ${r.error.why}`)
  return r.value
}
const NO_PICTURES = /^Charts are there as SVG only/
const file = join(folder, 'a.zip')
const options = { incident: null, code: codeOf(Buffer.alloc(32, 7)), version: '1.0.0', nowMs: 1, work: folder }

beforeAll(async () => {
  const source = await smallSource(6)
  const written = must(await writeBundle(source, inputOf(), { ...options, file }))
  expect(written.missing.filter((text) => NO_PICTURES.test(text))).toHaveLength(1)
})

it('a machine that cannot draw pictures exports the drawings, and says what is missing wherever it is read', async () => {
  const zip = must(await openZip(file))
  const charts = [...zip.entries.keys()].filter((name) => name.startsWith('charts/'))
  expect(charts.length).toBeGreaterThan(0)
  expect(charts.every((name) => name.endsWith('.svg'))).toBe(true)
  for (const page of ['report.md', 'README.html'])
    expect(must(await zip.read(page, 2 ** 24)).toString()).toContain('Charts are there as SVG only')
  zip.close()
  expect(must(await verifyHere(file))).toMatchObject({ ok: true, changed: [] })
})

it('an export of what was opened says it once, and says nothing where no chart is in it', async () => {
  const opened = must(await openBundle(file, folder, unpackHistory))
  try {
    const again = must(await writeBundle(opened, inputOf(), { ...options, file: join(folder, 'again.zip') }))
    expect(again.missing.filter((text) => NO_PICTURES.test(text))).toHaveLength(1)
    const bare = must(
      await writeBundle(opened, inputOf({ leaveOut: ['charts'] }), { ...options, file: join(folder, 'bare.zip') }),
    )
    expect(bare.missing.filter((text) => NO_PICTURES.test(text))).toEqual([])
  } finally {
    opened.close()
  }
})

/**
 * Recordings and bundles with flipped bytes, truncated, with displaced pages, with altered schema text: each gets a verdict within
 * two seconds, and what still opens can be read. SLUICE_LAB=full: 500 of each; by default as many as a run of all tests has time
 * for.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { randomStream, type RandomStream } from '#core/base/random.ts'
import { HISTORY } from '#core/snapshot/manifest.ts'
import { ForeignFiles } from '#electron/foreign/foreign-files.ts'
import { PLANE_TABLES } from '#core/series/plane-tables.ts'
import type { HistoryReader } from '#electron/history/reader.ts'
import { readerOf } from '#electron/history/open-recording.ts'
import { openBundle } from '#electron/incidents/bundle/open-bundle.ts'
import { forgeIn, type Forge } from '#tests/kits/electron/incidents/forged-bundle.ts'
import { tempFolder } from '../temp-folder.ts'

const COUNT = process.env.SLUICE_LAB === 'full' ? 500 : 60
const SEED = 20261123
const MOST_MS = 2_000
const PAGE = 4096

type Mutation = (bytes: Buffer, random: RandomStream) => Buffer

const flip: Mutation = (bytes, random) => {
  const flips = 1 + random.below(20)
  for (let i = 0; i < flips; i++) {
    const at = random.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  }
  return bytes
}
const cut: Mutation = (bytes, random) => bytes.subarray(0, random.below(bytes.length))
const splice: Mutation = (bytes, random) => {
  const pages = Math.max(1, Math.floor(bytes.length / PAGE))
  const from = PAGE * random.below(pages)
  const to = PAGE * random.below(pages)
  bytes.copy(bytes, to, from, Math.min(from + PAGE, bytes.length))
  return bytes
}
/** Replaces a character in the text of the schema, in the first pages. */
const schema: Mutation = (bytes, random) => {
  const places = [...bytes.toString('latin1').matchAll(/CREATE (?:TABLE|UNIQUE INDEX|INDEX)[^\0]{0,400}/g)]
  const place = places[random.below(places.length)]
  if (!place) return flip(bytes, random)
  const at = place.index + random.below(place[0].length)
  bytes[at] = '(),;*abcdefghijklmnopqrstuvwxyz0123456789'.charCodeAt(random.below(41))
  return bytes
}
/** Cells that point at each other, counts that are too large: the head of a page. */
const head: Mutation = (bytes, random) => {
  const pages = Math.max(1, Math.floor(bytes.length / PAGE))
  const at = PAGE * random.below(pages) + random.below(100)
  bytes[Math.min(at, bytes.length - 1)] = random.below(256)
  return bytes
}
const MUTATIONS: readonly Mutation[] = [flip, cut, splice, schema, head]

const folder = tempFolder()
const files = ForeignFiles.ofNode()
let made: Forge
beforeAll(async () => {
  made = await forgeIn(folder)
  // The first one includes the start of the process, for any file.
  await files.verify(made.good)
})
afterAll(() => files.close())

/** Queries of the views on a recording. */
function readAll(reader: HistoryReader): void {
  const kept = reader.extent()
  const span = { fromMs: kept?.fromMs ?? 0, toMs: (kept?.toMs ?? 0) + 1 }
  reader.line('rpcs', span, 100)
  reader.top(span, 'job', 5, 50)
  reader.events(0, Number.MAX_SAFE_INTEGER, 100)
  reader.rulesBetween(span.fromMs, span.toMs)
  reader.gaps(span.fromMs, span.toMs)
  reader.allTargets()
  reader.jobs('raw', span.fromMs)
  for (const { id, main } of PLANE_TABLES) {
    reader.planeAt(id, span.toMs, 60_000)
    reader.planeLine(id, main, span, 100)
    reader.planeMovers(id, main, span, span, 10)
  }
  for (const { id } of reader.convoys(0, Number.MAX_SAFE_INTEGER, 100)) reader.convoyFrame(id)
}

const VERDICT = /^(?:RECORDING|BUNDLE|FILE)_[A-Z_]+$/

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now()
  const done = await work()
  expect(performance.now() - from, what).toBeLessThan(MOST_MS)
  return done
}

it(`attack: ${COUNT} mutated recordings each get a verdict, and none takes longer than two seconds`, async () => {
  const whole = made.members.get(HISTORY) ?? Buffer.alloc(0)
  const file = join(folder, 'mutated.qosrec')
  const verdicts: string[] = []
  for (let i = 0; i < COUNT; i++) {
    const random = randomStream(SEED, `recording ${i}`)
    const mutate = MUTATIONS[i % MUTATIONS.length] ?? flip
    writeFileSync(file, mutate(Buffer.from(whole), random))
    verdicts.push(
      await timed(`recording ${i}`, async () => {
        const opened = await files.open(file)
        const reader = opened.ok ? readerOf(opened.value) : opened
        if (!reader.ok) return reader.error.code
        try {
          readAll(reader.value)
        } finally {
          reader.value.close()
        }
        return 'open'
      }),
    )
  }
  expect(verdicts.filter((verdict) => verdict !== 'open' && !VERDICT.test(verdict))).toEqual([])
  expect(new Set(verdicts)).toContain('open')
  expect(new Set(verdicts)).toContain('RECORDING_DAMAGED')
  // A verdict on the file, not on the process that read it.
  expect(verdicts.filter((verdict) => /^FILE_(?:CRASHED|TOO_)/.test(verdict))).toEqual([])
})

it(`attack: ${COUNT} mutated bundles each get a verdict, and none takes longer than two seconds`, async () => {
  const history = made.members.get(HISTORY) ?? Buffer.alloc(0)
  const verdicts: string[] = []
  for (let i = 0; i < COUNT; i++) {
    const random = randomStream(SEED, `bundle ${i}`)
    const mutate = MUTATIONS[i % MUTATIONS.length] ?? flip
    // Half of them have hashes that match their contents.
    let file = join(folder, 'mutated.zip')
    if (i % 2 === 0) writeFileSync(file, mutate(readFileSync(made.good), random))
    else file = made.forge({ [HISTORY]: mutate(Buffer.from(history), random) })
    const { verdict, opened } = await timed(`bundle ${i}`, async () => ({
      verdict: await files.verify(file),
      opened: await openBundle(file, join(folder, 'work'), files.unpack),
    }))
    verdicts.push(verdict.ok ? (verdict.value.ok ? 'whole' : 'changed') : verdict.error.code)
    verdicts.push(opened.ok ? 'open' : opened.error.code)
    // A bundle that is reported as intact must open.
    if (verdict.ok && verdict.value.ok) expect(opened.ok, `bundle ${i}`).toBe(true)
    if (opened.ok) opened.value.close()
  }
  expect(verdicts.filter((verdict) => !/^(?:whole|changed|open)$/.test(verdict) && !VERDICT.test(verdict))).toEqual([])
  expect(new Set(verdicts)).toContain('changed')
  expect(new Set(verdicts)).toContain('RECORDING_DAMAGED')
  expect(verdicts.filter((verdict) => /^FILE_(?:CRASHED|TOO_)/.test(verdict))).toEqual([])
})

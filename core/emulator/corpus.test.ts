/**
 * Compares the emulator with recorded answers of real servers: same exit code, same stderr, same stdout except values.
 * SLUICE_CORPUS names the folder of answers.
 */
import { describe, expect, it } from 'vitest'
import type { ExecResult } from './exec.ts'
import { isExact, isFed, reasonAgainst } from '../../tests/node/corpus/claims.ts'
import { load } from '../../tests/node/corpus/load.ts'
import { readCorpus, type CorpusRecord } from '../../tests/node/corpus/records.ts'
import { stepsOf } from '../../tests/node/corpus/scenes.ts'
import { firstDifference } from '../../tests/node/corpus/shape.ts'
import { makeWorld } from '../../tests/node/corpus/world.ts'

const folder = process.env.SLUICE_CORPUS ?? ''
if (folder === '') console.log('corpus.test.ts: skipped, SLUICE_CORPUS does not name a folder of answers')

/** Differences between an answer and the recorded one, values excluded. */
function differencesOf(record: CorpusRecord, answer: ExecResult): string[] {
  const at = `${record.id} $ ${record.command.slice(0, 120)}`
  const out: string[] = []
  if (answer.code !== record.exit) out.push(`${at}\n  exit ${record.exit}, not ${answer.code}`)
  for (const stream of ['stderr', 'stdout'] as const) {
    const d = firstDifference(record[stream], answer[stream], stream === 'stderr' || isExact(record))
    if (d)
      out.push(`${at}\n  ${stream} line ${d.line}: ${JSON.stringify(d.expected)}\n  not ${JSON.stringify(d.actual)}`)
  }
  return out
}

describe.skipIf(folder === '')('answers of real servers', () => {
  const corpus = folder === '' ? new Map<never, never>() : readCorpus(folder)
  const full = [...corpus.values()].reduce((a, b) => (b.length > a.length ? b : a), [])

  for (const [file, records] of corpus) {
    it(`are those of the emulator: ${file}`, () => {
      // Each setup was a separate machine.
      const worlds = new Map<string, ReturnType<typeof makeWorld>>()
      const wrong: string[] = []
      const reasons = new Map<string, number>()
      let exact = 0
      let claimed = 0
      for (const { unrecorded, record } of stepsOf(records, full)) {
        const world = worlds.get(record.setup) ?? makeWorld([record])
        worlds.set(record.setup, world)
        world.enter(record)
        for (const step of unrecorded) world.step(step, record)
        if (!/grep -c/.test(record.command)) load(world.testfs, record.command, record.stdout)
        const answer = world.run(record)
        const differences = differencesOf(record, answer)
        const reason = reasonAgainst(record)
        if (reason !== undefined) {
          reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
          if (differences.length === 0 && !isFed(record)) wrong.push(`${record.id} is given, though not claimed`)
          continue
        }
        claimed++
        if (answer.stdout === record.stdout) exact++
        wrong.push(...differences)
      }
      console.log(
        `${file}: ${claimed} of ${records.length} answers claimed, ${exact} of them byte for byte; not claimed:\n` +
          [...reasons].map(([r, n]) => `  ${n} ${r}\n`).join(''),
      )
      expect(wrong.join('\n')).toBe('')
      expect(claimed / records.length).toBeGreaterThan(0.85)
    })
  }
})

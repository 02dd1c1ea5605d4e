/**
 * Everything that real servers answered and the emulator claims to answer: same exit code, same stderr, same stdout but for
 * values. SLUICE_CORPUS names the folder of answers.
 */
import { describe, expect, it } from 'vitest'
import { reasonAgainst } from '../../tests/node/corpus/claims.ts'
import { readCorpus } from '../../tests/node/corpus/records.ts'
import { stepsOf } from '../../tests/node/corpus/scenes.ts'
import { firstDifference } from '../../tests/node/corpus/shape.ts'
import { makeWorld } from '../../tests/node/corpus/world.ts'

const folder = process.env.SLUICE_CORPUS ?? ''
if (folder === '') console.log('corpus.test.ts: skipped, SLUICE_CORPUS does not name a folder of answers')

describe.skipIf(folder === '')('answers of real servers', () => {
  const corpus = folder === '' ? new Map<never, never>() : readCorpus(folder)
  const full = [...corpus.values()].reduce((a, b) => (b.length > a.length ? b : a), [])

  for (const [file, records] of corpus) {
    it(`are those of the emulator: ${file}`, () => {
      const world = makeWorld(records)
      const wrong: string[] = []
      const reasons = new Map<string, number>()
      let exact = 0
      let claimed = 0
      for (const { unrecorded, record } of stepsOf(records, full)) {
        world.enter(record)
        for (const command of unrecorded) world.exec(command)
        const answer = world.run(record)
        const reason = reasonAgainst(record)
        if (reason !== undefined) {
          reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
          continue
        }
        claimed++
        const out = firstDifference(record.stdout, answer.stdout)
        const err = firstDifference(record.stderr, answer.stderr)
        if (answer.stdout === record.stdout) exact++
        const at = `${record.id} $ ${record.command.slice(0, 120)}`
        if (answer.code !== record.exit) wrong.push(`${at}\n  exit ${record.exit}, not ${answer.code}`)
        if (err)
          wrong.push(
            `${at}\n  stderr line ${err.line}: ${JSON.stringify(err.expected)}\n  not ${JSON.stringify(err.actual)}`,
          )
        if (out)
          wrong.push(
            `${at}\n  stdout line ${out.line}: ${JSON.stringify(out.expected)}\n  not ${JSON.stringify(out.actual)}`,
          )
      }
      console.log(
        `${file}: ${claimed} of ${records.length} answers claimed, ${exact} of them byte for byte; not claimed:\n` +
          [...reasons].map(([r, n]) => `  ${n} ${r}\n`).join(''),
      )
      expect(wrong.join('\n')).toBe('')
    })
  }
})
